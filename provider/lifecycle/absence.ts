import { ApiError } from "../../client/client";
import { mayMeanAbsent } from "../../client/finality";
import { shellQuote } from "../../client/shell-quote";
import type { Urn } from "../run/engine";

/**
 * Runs a step that reads or deletes an object. If it stays unknown whether the object exists, the error explains how to
 * remove the object from the state. The error is copied, because resources may share a failed call.
 */
export async function explainingAbsence<T>(id: string, urn: Urn, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    // Errors of lists, jobs and `/healthz` do not name the object.
    const isAboutObject = error instanceof ApiError && error.message.includes(id);
    if (!isAboutObject || !mayMeanAbsent(error)) throw error;
    const fix = `If it no longer exists, remove it from the state: \`pulumi state delete ${shellQuote(urn ?? "URN")}\`.`;
    throw new Error(`${error.message.replace(/\.?$/, ".")} ${fix}`, { cause: error });
  }
}
