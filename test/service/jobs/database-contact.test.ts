import { DatabaseContact } from "../../../service/jobs/database-contact";

const leaseMs = 15_000;

/** Returns the contact of a process whose database responded every 3 s between two times. */
function inContact(from: number, to: number, contact = new DatabaseContact(leaseMs)): DatabaseContact {
  for (let now = from; now <= to; now += 3000) contact.confirm(now);
  return contact;
}

test.each([
  ["has just started", inContact(0, 0), 0, false],
  ["has been in contact for less than a lease", inContact(0, 12_000), 12_000, false],
  ["has been in contact for a lease", inContact(0, 15_000), 16_000, true],
  ["missed one renewal", inContact(21_000, 24_000, inContact(0, 15_000)), 24_000, true],
  ["has just reconnected after an outage", inContact(33_000, 33_000, inContact(0, 15_000)), 33_000, false],
  ["reconnected a lease ago", inContact(33_000, 48_000, inContact(0, 15_000)), 48_000, true],
  ["has lost contact since", inContact(0, 30_000), 37_000, false],
])("whether a process that %s may take over jobs", (_, contact, now, expected) => {
  expect(contact.isSteadyAt(now)).toBe(expected);
});
