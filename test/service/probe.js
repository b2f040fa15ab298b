// A thread that asks a service whether it lives, all the time, and says how long each answer took.
const http = require("node:http");
const { parentPort, workerData } = require("node:worker_threads");

/** @type {number[]} */
const times = [];
let isOver = false;
const agent = new http.Agent({ keepAlive: true });

parentPort?.on("message", () => {
  isOver = true;
});

function ask() {
  if (isOver) {
    agent.destroy();
    parentPort?.postMessage(times);
    parentPort?.close();
    return;
  }
  const began = performance.now();
  const next = () => {
    times.push(performance.now() - began);
    setTimeout(ask, 10);
  };
  http
    .get(`${workerData.url}/healthz`, { agent }, (response) => response.resume().on("end", next))
    .on("error", next);
}
ask();
