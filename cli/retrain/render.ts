import { shortList } from "../release/gate";
import { wrapText } from "../terminal/layout";
import { formatNumber, formatShare } from "../terminal/output";
import type { Retraining } from "./retrain";
import { ageText, modelTitle, newShare } from "./staleness";

/** Formats the result of a retraining: the verdict, the reasons, and how stale each model is. */
export function retrainingText(outcome: Retraining): string {
  return `${[opening(outcome), ...reasonLines(outcome), ...qualityLines(outcome), ...modelLines(outcome)].join("\n")}\n`;
}

function opening({ verdict, stack, because, release, resumed }: Retraining): string {
  switch (verdict) {
    case "not due":
      return `No model of ${stack} is stale`;
    case "due":
      return `${stack} would be trained again: ${shortList(because)}`;
    case "refused":
      return `${stack} is not trained again. Nothing was changed.`;
    case "failed":
      return `${stack} keeps its models (${release?.id}): ${release?.reason}`;
    default:
      return `Trained ${stack} again as ${release?.id}${resumed ? ", which was interrupted" : ""}: ${shortList(because)}`;
  }
}

function reasonLines({ verdict, reasons }: Retraining): string[] {
  if (verdict !== "refused") return [];
  const blocking = reasons.filter(({ allowed }) => !allowed);
  return blocking.map(({ code, words, fix }) =>
    wrapText(`${code}: ${words}. To fix it, ${fix}; or --allow ${code}.`, "- ", "  "),
  );
}

function qualityLines({ release, quality, before }: Retraining): string[] {
  if (!release) return [];
  const figures = quality.map(({ model, former, floor, now }) => {
    const text = (value: number | undefined) => value?.toFixed(4) ?? "unknown";
    const required = floor === undefined ? "" : `, required ${floor.toFixed(4)}`;
    return `  NDCG@20 of ${model}: ${text(now)} (before ${text(former)}${required})`;
  });
  const live = (release.contents?.deployments ?? []).map(({ name, generator, check }) => {
    const former = before.find((served) => served.name === name)?.generator.modelId;
    const checked = check ? `, check ${check.result}` : "";
    return `  ${name}: ${generator.modelId}${checked}\n    before: ${former ?? "none"}`;
  });
  return [...figures, ...live, "Commit the configuration of the stack and the release file."];
}

function modelLines({ verdict, models }: Retraining): string[] {
  if (verdict !== "not due" && verdict !== "due") return [];
  return models.map((age) => {
    const { trainedAt, newEventCount, deployments } = age;
    const parts = [
      ...(trainedAt === undefined ? [] : [`trained ${ageText(Date.now() - Date.parse(trainedAt))} ago`]),
      ...(newEventCount === undefined
        ? []
        : [`${formatNumber(newEventCount)} new events (${formatShare(newShare(age) ?? 0)})`]),
      `live in ${shortList(deployments)}`,
    ];
    return `  ${modelTitle(age)}: ${parts.join(", ")}`;
  });
}
