const { randomBytes } = require("node:crypto");
const { Client } = require("pg");
const { root } = require("../setup.js");

/**
 * Makes a database with all tables and no rows, which databases of tests are copies of: to make the tables takes longer
 * than to copy them.
 * @param {string} serverUrl
 */
async function makeTemplate(serverUrl) {
  const name = `template_${randomBytes(8).toString("hex")}`;
  /** @param {string} statement */
  const onServer = async (statement) => {
    const client = new Client({ connectionString: serverUrl });
    await client.connect();
    await client.query(statement).finally(() => client.end());
  };
  await onServer(`create database ${name} template template0`);
  const url = new URL(serverUrl);
  url.pathname = name;
  // Tables alone, for each copy is another instance, whose id its first service makes.
  /** @type {{ connect: typeof import("../../service/store/database").connect }} */
  const { connect } = require(`${root}/dist/service/store/database.js`);
  /** @type {{ migrate: typeof import("../../service/store/migrations").migrate }} */
  const { migrate } = require(`${root}/dist/service/store/migrations.js`);
  const db = connect(url.href, { writes: true });
  await migrate(db).finally(() => db.destroy());
  return { name, drop: () => onServer(`drop database ${name} with (force)`) };
}

module.exports = { makeTemplate };
