import { toUSVString } from "node:util";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import type { z } from "zod";
import { limits, type RouteName, routes, wireSchema } from "../../../contract";
import { arbitraryOf } from "../../contract/arbitrary";

/** Request to the service. */
export interface OddRequest {
  readonly method: string;
  readonly path: string;
  /** Operation of the request, if it has one. */
  readonly name?: RouteName;
  readonly content: Content;
  readonly coding: "none" | "gzip" | "broken gzip" | "br";
  readonly type: string | undefined;
  readonly credentials: "good" | "none" | "odd";
}

/** Description of a body, short enough for messages. */
export type Content =
  | { readonly kind: "json"; readonly json: unknown }
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "bytes"; readonly base64: string }
  | { readonly kind: "deep"; readonly before: string; readonly open: string; readonly levels: number }
  | { readonly kind: "long"; readonly before: string; readonly piece: string; readonly times: number };

/** Returns the bytes of a body. */
export function bytesOf(content: Content): Buffer {
  switch (content.kind) {
    case "json":
      return Buffer.from(JSON.stringify(content.json));
    case "text":
      return Buffer.from(content.text);
    case "bytes":
      return Buffer.from(content.base64, "base64");
    case "deep":
      return Buffer.from(closed(`${content.before}${content.open.repeat(content.levels)}1`, content));
    case "long":
      return Buffer.from(closed(`${content.before}${content.piece.repeat(content.times)}`, content));
  }
}

/** Returns the body and its headers as sent. */
export function sent({ content, coding, type }: OddRequest) {
  const bytes = bytesOf(content);
  const packed = coding === "gzip" ? gzipSync(bytes, { level: 1 }) : bytes;
  return {
    body: packed,
    headers: {
      ...(type === undefined ? {} : { "content-type": type }),
      ...(coding === "none" ? {} : { "content-encoding": coding.replace("broken ", "") }),
    },
  };
}

const oddTexts = fc.constantFrom(
  ...[
    "",
    " ",
    "\n",
    "\0",
    "\u0001",
    "\ud800",
    "__proto__",
    "constructor",
    "../../etc/passwd",
    "%00",
    "名 😀",
  ],
  ...["x".repeat(limits.idCharacters + 1), "€".repeat(limits.eventIdBytes), "'; drop table events; --"],
);

const oddValues = fc.oneof(
  fc.jsonValue(),
  oddTexts,
  fc.constantFrom(null, -1, 0, 0.5, 1e308, 2 ** 53, 1e9, [], {}, [[]], { conditions: [] }),
);

/** JSON that is nearly valid: real ids, wrong types, unusual keys and numbers. */
export function nearly(ids: Record<string, unknown>, keys: readonly string[]): fc.Arbitrary<unknown> {
  const value = fc.oneof(
    oddValues,
    fc.constantFrom("nowhere", ...Object.values(ids)),
    fc.array(fc.dictionary(fc.constantFrom("name", ...keys), oddValues, { maxKeys: 4 }), { maxLength: 3 }),
  );
  const object = fc.dictionary(
    fc.oneof(fc.constantFrom(...keys), fc.constantFrom("__proto__", "extra", "")),
    value,
    { maxKeys: 8 },
  );
  return fc.oneof(
    { weight: 8, arbitrary: object.map((given) => ({ ...ids, ...given })) },
    { weight: 2, arbitrary: object },
    fc.jsonValue(),
  );
}

/** Nearly valid JSON as a query string. */
export function queryOf(json: unknown): URLSearchParams {
  const fields = Object.entries(typeof json === "object" && json !== null ? json : { value: json });
  const entries = fields.map(([key, value]) => [
    key,
    typeof value === "string" ? value : JSON.stringify(value),
  ]);
  return new URLSearchParams(
    Object.fromEntries(entries.map((entry) => entry.map((text) => toUSVString(text)))),
  );
}

/** Returns the field names of a request. */
export function fieldsOf(name: RouteName): string[] {
  const schema = wireSchema(routes[name].request) as unknown as {
    shape?: object;
    options?: { shape: object }[];
  };
  return Object.keys(schema.shape ?? Object.assign({}, ...(schema.options ?? []).map(({ shape }) => shape)));
}

/** Requests of every kind to every operation. `ids` are real ids by field name, `spare` is a dataset to delete. */
export function oddRequests(ids: () => Record<string, string>): fc.Arbitrary<OddRequest> {
  const operation = fc.constantFrom(...(Object.keys(routes) as RouteName[])).chain((name) => {
    const { method, path, request } = routes[name];
    const fields = fieldsOf(name);
    const own = () => {
      const real: Record<string, string> = {
        ...ids(),
        ...(name === "deleteModel" ? { model_id: "nowhere" } : {}),
      };
      if (name === "deleteEventDataset") real.event_dataset_id = real.spare ?? "nowhere";
      return Object.fromEntries(Object.entries(real).filter(([key]) => fields.includes(key)));
    };
    const valid = arbitraryOf(wireSchema(request as z.ZodType)).map((made) => ({
      ...(made as object),
      ...own(),
    }));
    const wrong = nearly(own(), [...fields, "user_id", "item_id", "event_id", "attribute", "value", "ts"]);
    const json = fc
      .oneof({ weight: 4, arbitrary: valid }, { weight: 4, arbitrary: wrong })
      .map((made): Content => ({ kind: "json", json: made }));
    const content = fc.oneof(
      { weight: 12, arbitrary: json },
      { weight: 3, arbitrary: oddBodies(own, fields) },
    );
    return fc.record({
      method: fc.oneof({ weight: 30, arbitrary: fc.constant<string>(method) }, oddMethods),
      path: fc.constant<string>(path),
      name: fc.constant(name),
      content,
      ...envelope("application/json"),
    });
  });
  const other = fc.record({
    method: fc.oneof(fc.constantFrom("GET", "POST"), oddMethods),
    path: fc.oneof(
      fc.constantFrom(
        "/oauth/token",
        "/status",
        "/faults",
        "/openapi.json",
        "/",
        "/serving/a/b",
        "/%ff",
        "//",
      ),
      fc
        .tuple(fc.constantFrom("/download/", "/serving/", "/"), fc.webPath(), fc.webQueryParameters())
        .map(([base, path, query]) => `${base}${path.slice(1)}?${query}`),
    ),
    content: fc.oneof(
      oddValues.map((json): Content => ({ kind: "json", json })),
      fc.webQueryParameters().map((text): Content => ({ kind: "text", text: `grant_type=${text}` })),
      oddBodies(() => ({}), ["scope", "client_secret"]),
    ),
    ...envelope("application/x-www-form-urlencoded"),
  });
  return fc.oneof({ weight: 9, arbitrary: operation }, { weight: 1, arbitrary: other });
}

const oddMethods = fc.constantFrom("GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS");

function envelope(type: string) {
  const usual = <T>(value: T, ...others: T[]) =>
    fc.oneof(
      { weight: 20, arbitrary: fc.constant(value) },
      { weight: 3, arbitrary: fc.constantFrom(...others) },
    );
  return {
    coding: usual<OddRequest["coding"]>("none", "gzip", "broken gzip", "br"),
    type: usual<string | undefined>(
      type,
      ...[
        `${type}; charset=utf-8`,
        `${type};charset=latin1`,
        "text/plain",
        "application/json",
        "odd",
        undefined,
      ],
    ),
    credentials: usual<OddRequest["credentials"]>("good", "none", "odd"),
  };
}

/** Bodies that are too deep, too long, truncated or not text. */
function oddBodies(ids: () => Record<string, string>, fields: readonly string[]): fc.Arbitrary<Content> {
  const lists = fields.filter((field) =>
    ["users", "items", "events", "queries", "attributes"].includes(field),
  );
  const start = fc.constantFrom("", '{"name":', ...lists.map((list) => startOf(ids(), list)));
  const size = (most: number) =>
    fc.double({ min: 0, max: Math.log2(most), noNaN: true }).map((log) => Math.floor(2 ** log));
  return fc.oneof(
    fc.record({
      kind: fc.constant("deep" as const),
      before: start,
      open: fc.constantFrom("[", '{"a":', '[{"a":'),
      levels: size(1_000_000),
    }),
    fc.record({
      kind: fc.constant("long" as const),
      before: start.map((text) => `${text}[`),
      piece: fc.constantFrom("1,", '"",', "{},", "[1],", '{"user_id":"u"},', '{"conditions":[]},', " ", "名"),
      times: size(4_000_000),
    }),
    fc.uint8Array({ maxLength: 100 }).map((bytes) => ({
      kind: "bytes" as const,
      base64: Buffer.from(bytes).toString("base64"),
    })),
    fc
      .constantFrom("", "null", "[", '{"a":1', "1e999", '"\\ud800"', '{"a":1,"a":2}', "\ufeff{}", "NaN")
      .map((text) => ({
        kind: "text" as const,
        text,
      })),
  );
}

/** Returns the text of an upsert or a job up to the position of a free value. */
function startOf(ids: Record<string, string>, list: string): string {
  const head = JSON.stringify({ ...ids, name: "n", user_id: "u", limit: 10, query_type: "user_list" }).slice(
    0,
    -1,
  );
  const record = `"user_id":"u","item_id":"i","event_id":"e","ts":1,"event_type":"purchase"`;
  return `${head},"${list}":[{${record},"attributes":`;
}

/** Closes all open brackets of a text. */
function closed(text: string, { kind }: Content): string {
  const stack: string[] = [];
  let inText = false;
  for (let at = 0; at < text.length; at++) {
    const letter = text[at];
    if (letter === '"' && text[at - 1] !== "\\") inText = !inText;
    else if (inText) continue;
    else if (letter === "[") stack.push("]");
    else if (letter === "{") stack.push("}");
    else if (letter === "]" || letter === "}") stack.pop();
  }
  return `${kind === "long" ? text.replace(/,$/, "") : text}${stack.reverse().join("")}`;
}
