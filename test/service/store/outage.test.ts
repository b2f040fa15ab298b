import { ServiceError } from "../../../service/base/error";
import { retryOutages } from "../../../service/store/outage";
import { unreachable } from "../../../service/store/postgres-errors";

describe("work whose result took long to compute", () => {
  test.each([
    ["the disk is full", Object.assign(new Error("no space left on device"), { code: "ENOSPC" })],
    ["the quota is used up", Object.assign(new Error("disk quota exceeded"), { code: "EDQUOT" })],
    ["the embedded database cannot write", new ServiceError("UNAVAILABLE", "Cannot write to the disk")],
    ["the connection breaks", Object.assign(new Error("reset"), { code: "ECONNRESET" })],
  ])("is tried again if %s", async (_, error) => {
    const work = jest.fn().mockRejectedValueOnce(error).mockResolvedValueOnce("saved");
    expect(await retryOutages(work, async () => true)).toBe("saved");
    expect(work).toHaveBeenCalledTimes(2);
  });

  test("is not tried again after another error, or if the caller gives up", async () => {
    const denied = Object.assign(new Error("permission denied"), { code: "EACCES" });
    await expect(
      retryOutages(
        () => Promise.reject(denied),
        async () => true,
      ),
    ).rejects.toBe(denied);
    const full = Object.assign(new Error("no space left on device"), { code: "ENOSPC" });
    await expect(
      retryOutages(
        () => Promise.reject(full),
        async () => false,
      ),
    ).rejects.toBe(full);
  });
});

describe("the response during an outage", () => {
  test.each([
    ["tells the client to wait if the call has changed nothing", "25006", { "retry-after": "5" }],
    ["does not claim so if a connection broke, because the transaction may be committed", "57P01", {}],
    ["does not claim so if a connection was reset", "ECONNRESET", {}],
  ])("%s", (_, code, headers) => {
    const error = unreachable(Object.assign(new Error("database"), { code }));
    expect(error).toMatchObject({ code: "UNAVAILABLE", more: { headers } });
    expect(Object.keys(error?.more.headers ?? {})).toEqual(Object.keys(headers));
  });
});
