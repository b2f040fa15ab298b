import { Contact } from "../../../service/jobs/contact";

const leaseMs = 15_000;

/** A process that was in contact every 3 s, from one time until another. */
function inContact(from: number, to: number, contact = new Contact(leaseMs)): Contact {
  for (let now = from; now <= to; now += 3000) contact.made(now);
  return contact;
}

test.each([
  ["has just started", inContact(0, 0), 0, false],
  ["has been there for less than a lease", inContact(0, 12_000), 12_000, false],
  ["has been there for a lease", inContact(0, 15_000), 16_000, true],
  ["missed one beat", inContact(21_000, 24_000, inContact(0, 15_000)), 24_000, true],
  ["has come back from an outage", inContact(33_000, 33_000, inContact(0, 15_000)), 33_000, false],
  ["came back a lease ago", inContact(33_000, 48_000, inContact(0, 15_000)), 48_000, true],
  ["has lost contact since", inContact(0, 30_000), 37_000, false],
])("a process that %s may judge others: %#", (_, contact, now, expected) => {
  expect(contact.isSteadyAt(now)).toBe(expected);
});
