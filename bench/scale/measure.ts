import { join } from "node:path";
import { connect, type ServiceProcess, watched } from "../service/api";
import { inChild } from "../service/child";
import { generateEvents } from "../service/events";
import type { Answered } from "../service/load";
import { Project } from "../service/project";
import { upload, upsertBodies } from "../service/upload";

const scale = Number(process.env.BENCH_SCALE ?? 1);
/** The number of users and events of one part. All parts share the same items. */
export const shape = { users: Math.round(6040 * scale), items: 3700, events: Math.round(1_000_000 * scale) };

/** Uploads a number of parts to a service, trains, deploys and requests recommendations. */
export async function measure(where: string, service: ServiceProcess, parts: number) {
  const api = connect(service);
  const { event_dataset_id } = await api.call("/create-event-dataset", {
    name: "events",
    num_shards: 20 * parts,
  });
  const uploaded = await watched(api, async () => {
    let seconds = 0;
    for (let part = 0; part < parts; part++) {
      seconds += await upload(api, upsertBodies(event_dataset_id as string, eventsOf(part)));
    }
    return seconds;
  });
  const project = await Project.create(api, event_dataset_id as string, shape);
  const trained = await watched(api, async () => project.train(await project.algorithm({})));
  const { chosen_parameters: chosen, quality } = trained.result.data as {
    chosen_parameters: { dimensions?: number; rank?: number };
    quality?: { learned_on_users?: number };
  };
  const deployment = await project.deploy(trained.result.modelId);
  const { pathname } = new URL(deployment.servingUri);
  const load = join(__dirname, "..", "service", "load.ts");
  const answered = await inChild<Answered>(
    load,
    `${service.url}${pathname}`,
    service.key,
    String(shape.users),
  );
  return {
    where,
    events: parts * shape.events,
    users: parts * shape.users,
    rowsPerSecond: (parts * shape.events) / uploaded.result,
    uploadPeakBytes: uploaded.peakBytes,
    trainingSeconds: trained.result.seconds,
    trainingPeakBytes: trained.peakBytes,
    // Spark calls the dimensions rank.
    dimensions: chosen.dimensions ?? chosen.rank ?? 0,
    learnedOnUsers: quality?.learned_on_users ?? parts * shape.users,
    deploymentSeconds: deployment.seconds,
    servingBytes: (await api.status()).memory_bytes,
    ...answered,
  };
}

/** Returns the events of a part as JSON strings. Each part has different users. */
function eventsOf(part: number): string[] {
  const own = part === 0 ? "" : `p${part}-`;
  return generateEvents(shape, 7 + part).map((event) =>
    JSON.stringify({ ...event, event_id: `${own}${event.event_id}`, user_id: `${own}${event.user_id}` }),
  );
}
