import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { withClients } from "../../../service";
import { networkOf } from "../../../service/base/network";
import { webOrigin } from "../../../service/base/web-origin";
import { CallerLimits } from "../../../service/http/caller-limits";
import { ManualClock } from "../manual-clock";
import { Running } from "../running";
import { openShop } from "../shop";
import { origin, PageShop, path } from "./page-shop";

describe("a public key is limited", () => {
  let shop: PageShop;
  const recommend = (headers: Record<string, string>) =>
    shop.post(path, { user_id: "u1" }, { origin, ...headers });
  const from = (address: string) => ({ "x-forwarded-for": address });
  /** Sends calls at one moment and returns how many of them pass. */
  const passing = async (headers: readonly Record<string, string>[]) => {
    let passed = 0;
    for (const one of headers) {
      const { status, answered } = await recommend(one);
      if (status === 200) passed++;
      else
        expect({ status, after: Number(answered["retry-after"]) > 0 }).toEqual({
          status: 429,
          after: true,
        });
    }
    return passed;
  };
  const times = <T>(count: number, one: (at: number) => T) =>
    Array.from({ length: count }, (_, at) => one(at));
  let apikey: string;
  beforeAll(async () => {
    shop = await PageShop.open();
    apikey = await shop.added("limited", { addressQps: 3, keyQps: 12 });
    // The first call of a key in a process reads its limits.
    expect(await passing([{ apikey, ...from("198.51.100.1") }])).toBe(1);
  });
  afterAll(() => shop.close());
  beforeEach(() => shop.clock.advance(10_000));

  test("per address, and recovers with time", async () => {
    const one = times(8, () => ({ apikey, ...from("203.0.113.7") }));
    expect(await passing(one)).toBe(3);
    expect(await passing([{ apikey, ...from("203.0.113.8") }])).toBe(1);
    shop.clock.advance(1000);
    expect(await passing(one)).toBe(3);
  });

  test("per /48 of IPv6, so a caller with many addresses gains nothing", async () => {
    const many = times(8, (at) => ({ apikey, ...from(`2001:db8:1:${at.toString(16)}::${at + 1}`) }));
    expect(await passing(many)).toBe(3);
    expect(await passing([{ apikey, ...from("2001:db8:2::1") }])).toBe(1);
  });

  test("per address, even if the caller forges other addresses before the one that the proxy adds", async () => {
    const forged = times(8, (at) => ({ apikey, ...from(`10.0.0.${at}, 192.0.2.${at}, 203.0.113.9`) }));
    expect(await passing(forged)).toBe(3);
    expect(await passing(times(8, (at) => ({ apikey, ...from(`nonsense-${at}`) })))).toBe(3);
  });

  test("in total, whatever the number of addresses", async () => {
    expect(await passing(times(40, (at) => ({ apikey, ...from(`198.51.100.${at + 10}`) })))).toBe(12);
  });

  test("without a lookup of each guessed key", async () => {
    const guesses = times(40, (at) => ({
      apikey: `rp_${String(at).padStart(20, "0")}_${"A".repeat(43)}`,
      ...from("203.0.113.50"),
    }));
    const answers = await Promise.all(guesses.map((headers) => recommend(headers)));
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(20);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(20);
  });

  test("by new limits from the next call", async () => {
    await shop.clients((all) => all.updatePublic("limited", { addressQps: 5 }));
    const one = times(12, () => ({ apikey, ...from("203.0.113.77") }));
    await passing(one.slice(0, 1));
    shop.clock.advance(5000);
    expect(await passing(one)).toBe(5);
  });
});

test("X-Forwarded-For has no effect if no proxy is trusted", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "recommender-pages-"));
  const clock = new ManualClock();
  const api = await Running.start({ dataDir, clock });
  const shop = await openShop(api);
  const place = api.options.store === undefined ? { dataDir } : { store: api.options.store };
  const settings = { project: shop.projectId, origins: [origin], addressQps: 3 };
  const { secret } = await withClients(place, (all) => all.addPublic("page", settings));
  const statuses: number[] = [];
  for (let at = 0; at < 10; at++) {
    const headers = {
      "content-type": "application/json",
      origin,
      apikey: secret,
      "x-forwarded-for": `203.0.113.${at}`,
    };
    const { status } = await api.raw(path, { method: "POST", headers, body: '{"user_id":"u1"}' });
    statuses.push(status);
  }
  // Nothing is deployed, so calls below the limit return 409. The first one reads the limit from the database.
  expect(statuses).toEqual([409, 409, 409, 409, ...Array(6).fill(429)]);
  await api.end();
  rmSync(dataDir, { recursive: true });
});

test("limits of many callers take bounded memory, and keep those that call most recently", () => {
  const limits = new CallerLimits(1000, new ManualClock());
  const isAllowed = (caller: string) => {
    try {
      limits.count(caller, 2, "Too many calls.");
      return true;
    } catch {
      return false;
    }
  };
  let passed = 0;
  for (let at = 0; at < 100_000; at++) {
    expect(isAllowed(`caller ${at}`)).toBe(true);
    if (at % 100 === 0 && isAllowed("attacker")) passed++;
  }
  expect(limits.size).toBe(1000);
  expect(passed).toBe(2);
});

test.each([
  ["192.0.2.1", "192.0.2.1"],
  ["::ffff:192.0.2.1", "192.0.2.1"],
  ["2001:db8:5:6:7:8:9:a", "2001:db8:5::/48"],
  ["2001:db8:5::1", "2001:db8:5::/48"],
  ["::1", "0:0:0::/48"],
  ["fe80::1%eth0", "fe80:0:0::/48"],
  ["unknown", "unknown"],
  ["<script>", "unknown"],
])("the address %s belongs to the network %s", (address, network) => {
  expect(networkOf(address)).toBe(network);
});

test.each([
  ["https://shop.example.com/", "Write https://shop.example.com."],
  ["https://shop.example.com/cart", "Write https://shop.example.com."],
  ["https://user@shop.example.com", "Write https://shop.example.com."],
  ["shop.example.com", "An example is"],
  ["*", "An example is"],
  ["null", "An example is"],
  ["file:///index.html", "An example is"],
])("%s is not an origin, and the error contains what to write", (text, hint) => {
  expect(() => webOrigin(text)).toThrow(hint);
});

test("an origin is written as browsers send it", () => {
  expect(webOrigin("HTTPS://Shop.Example.com:443")).toBe("https://shop.example.com");
  expect(webOrigin("http://[::1]:3000")).toBe("http://[::1]:3000");
});

test("a service does not start with an invalid origin or proxy", async () => {
  await expect(Running.start({ allowOrigin: ["*"] })).rejects.toThrow(/"\*" is not an origin/);
  for (const proxy of ["*", "1", "proxy.example.com", "10.0.0.0/99"])
    await expect(Running.start({ trustProxy: [proxy] })).rejects.toThrow(/is not the address of a proxy/);
});
