import express from "express";
import { forPages, Recommender } from "pulumi-recommender-web";

const recommender = new Recommender({
  url: process.env.RECOMMENDER_URL,
  key: process.env.RECOMMENDER_SECRET,
  clientId: "shop",
  ...forPages,
});
const wanted = { limit: 4, filter: 'item.genre in ["jazz", "folk"]', attributes: ["title"] };
// Reads the popular items, in case the service does not answer later.
recommender.prepare(wanted).catch((error) => console.warn(error.message));

const app = express();

app.get("/", async (request, response) => {
  // In your shop, the user comes from the session, and the events from the pages of the visit.
  const { user, seen } = request.query;
  const events = seen ? [{ itemId: seen }] : [];
  const { items, source, error } = await recommender.recommend(user, { ...wanted, events });
  if (error) console.warn(`Recommendations are "${source}": ${error.message}`);
  const entries = items.map(({ itemId, attributes }) => `<li>${escaped(attributes.title ?? itemId)}</li>`);
  response.send(`<h1>For you</h1><ul data-source="${source}">${entries.join("")}</ul>`);
});

/** Titles can contain any text, also scripts. */
function escaped(text) {
  const codes = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
  return String(text).replace(/[&<>"]/g, (character) => codes[character]);
}

const server = app.listen(process.env.PORT ?? 3000, "127.0.0.1", () => {
  console.log(`http://127.0.0.1:${server.address().port}`);
});
