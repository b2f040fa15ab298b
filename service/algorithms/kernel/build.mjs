// Compiles kernel.as to wasm.ts, which is committed. With --check, it only checks that wasm.ts is up to date.
import { readFileSync, writeFileSync } from "node:fs";
import asc from "assemblyscript/asc";

const source = new URL("kernel.as", import.meta.url);
const target = new URL("wasm.ts", import.meta.url);

/** Compiles the kernel. Returns it in base64. */
async function compiled(...options) {
  let binary;
  const always = [
    "kernel.ts",
    "--outFile",
    "kernel.wasm",
    "-O3",
    "--runtime",
    "stub",
    "--importMemory",
    "--noAssert",
  ];
  const { error, stderr } = await asc.main([...always, "--enable", "simd", ...options], {
    readFile: (name) => (name === "kernel.ts" ? readFileSync(source, "utf8") : null),
    writeFile: (name, contents) => {
      if (name === "kernel.wasm") binary = contents;
    },
    listFiles: () => [],
  });
  if (error) {
    console.error(stderr.toString());
    process.exit(1);
  }
  return Buffer.from(binary).toString("base64");
}

const text = `// Generated from kernel.as by build.mjs: do not edit.
/** The compiled kernel, in base64. */
export const wasm =
  "${await compiled()}";

/** The compiled kernel for shared memory, in base64. */
export const sharedWasm =
  "${await compiled("--enable", "threads", "--sharedMemory", "--maximumMemory", "65536")}";
`;
if (!process.argv.includes("--check")) writeFileSync(target, text);
else if (readFileSync(target, "utf8") !== text) {
  console.error("service/algorithms/kernel/wasm.ts is stale: run `node service/algorithms/kernel/build.mjs`");
  process.exit(1);
}
