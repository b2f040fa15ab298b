import { canonicalAddress, isSameAddress, possibleAddresses } from "../../client/address";

test.each([
  ["HTTP://API.Example.com", "http://api.example.com"],
  ["https://api.example.com:443/", "https://api.example.com"],
  ["http://api.example.com:80/v1//", "http://api.example.com/v1"],
  ["http://127.1:8080", "http://127.0.0.1:8080"],
  ["embedded:Data/", "embedded:Data"],
])("the canonical spelling of %s is %s", (given, canonical) => {
  expect(canonicalAddress(given)).toBe(canonical);
  expect(isSameAddress(given, canonical)).toBe(true);
});

test("addresses with different hosts, ports or paths are different", () => {
  for (const other of ["http://a.example/x", "http://a.example:81", "https://a.example", undefined])
    expect(isSameAddress("http://a.example", other)).toBe(false);
});

test("a service on this machine may also be known by the name localhost", () => {
  for (const host of ["127.0.0.1", "[::1]", "localhost"])
    expect(possibleAddresses(`http://${host}:8080`)).toContain("http://localhost:8080");
  expect(possibleAddresses("https://api.example.com/")).toEqual(["https://api.example.com"]);
  expect(possibleAddresses("embedded:0a1b")).toEqual(["embedded:0a1b"]);
});
