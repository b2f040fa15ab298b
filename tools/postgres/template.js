const { randomBytes } = require("node:crypto");
const { Client } = require("pg");
const { root } = require("../setup.js");

/**
 * Creates a database with all tables and no rows. Tests copy it, which is faster than creating the tables.
 * @param {string} serverUrl
 */
async function createTemplate(serverUrl) {
  const name = `template_${randomBytes(8).toString("hex")}`;
  /** @param {string} statement */
  const execute = async (statement) => {
    const client = new Client({ connectionString: serverUrl });
    await client.connect();
    await client.query(statement).finally(() => client.end());
  };
  await execute(`create database ${name} template template0`);
  const url = new URL(serverUrl);
  url.pathname = name;
  // The first service on each copy creates the instance id, so the template must not contain one.
  /** @type {{ connect: typeof import("../../service/store/database").connect }} */
  const { connect } = require(`${root}/dist/service/store/database.js`);
  /** @type {{ migrate: typeof import("../../service/store/migrations").migrate }} */
  const { migrate } = require(`${root}/dist/service/store/migrations.js`);
  const db = connect(url.href, { writes: true });
  await migrate(db).finally(() => db.destroy());
  return { name, drop: () => execute(`drop database ${name} with (force)`) };
}

module.exports = { createTemplate };
