// A process that calls the health check of a service all the time, and reports the response times.
const http = require("node:http");

/** @type {number[]} */
const times = [];
let isOver = false;
const agent = new http.Agent({ keepAlive: true });

/** @param {string} url */
function ask(url) {
  if (isOver) {
    process.send?.(times, () => process.exit());
    return;
  }
  const began = performance.now();
  const next = () => {
    times.push(performance.now() - began);
    setTimeout(ask, 10, url);
  };
  http.get(`${url}/healthz`, { agent }, (response) => response.resume().on("end", next)).on("error", next);
}

process.once("message", (url) => {
  ask(String(url));
  process.once("message", () => {
    isOver = true;
  });
});
process.on("disconnect", () => process.exit());
