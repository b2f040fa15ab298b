export { Client } from "./client";
