import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Clients, type PageSettings, withClients } from "../../../service";
import { ManualClock } from "../manual-clock";
import { Running } from "../running";
import { deploy, openShop, shopRecords, trainModel } from "../shop";

/** Origin of the shop's pages. */
export const origin = "https://shop.example.com";
/** Path of the calls that pages make. */
export const path = "/recommend-items-to-user";

/** A running service with a live model and a public key for pages. */
export class PageShop {
  private constructor(
    readonly api: Running,
    readonly clock: ManualClock,
    readonly dataDir: string,
    readonly ids: Awaited<ReturnType<typeof openShop>>,
  ) {}

  static async open(): Promise<PageShop> {
    const dataDir = mkdtempSync(join(tmpdir(), "recommender-pages-"));
    const clock = new ManualClock();
    const allowOrigin = ["http://localhost:5173"];
    const api = await Running.start({ dataDir, clock, faults: true, allowOrigin, trustProxy: ["loopback"] });
    const records = shopRecords();
    const priced = records.items.map((item, at) => ({
      ...item,
      attributes: { ...item.attributes, price: at, cost: at / 2 },
    }));
    const shop = await openShop(api, { ...records, items: priced as typeof records.items });
    await deploy(api, shop.projectId, await trainModel(api, shop));
    return new PageShop(api, clock, dataDir, shop);
  }

  async close(): Promise<void> {
    await this.api.end();
    rmSync(this.dataDir, { recursive: true });
  }

  /** Reads or changes the clients of the service. */
  clients<T>(work: (clients: Clients) => Promise<T>): Promise<T> {
    const { store } = this.api.options;
    return withClients(store === undefined ? { dataDir: this.dataDir } : { store }, work);
  }

  /** Creates a public key and returns it. */
  async added(name: string, more: Partial<PageSettings> = {}): Promise<string> {
    const settings = { project: this.ids.projectId, origins: [origin], ...more };
    return (await this.clients((all) => all.addPublic(name, settings))).secret;
  }

  post(to: string, input: object, headers: Record<string, string>) {
    const sent = { "content-type": "application/json", ...headers };
    return this.api.raw(to, { method: "POST", headers: sent, body: JSON.stringify(input) });
  }
}
