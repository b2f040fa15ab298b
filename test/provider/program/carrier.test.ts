import { carrierHere } from "../../../provider/program/carrier";
import { carrierVariable } from "../../../provider/run/engine";

afterEach(() => {
  delete process.env[carrierVariable];
});

test("an error about the carrier names the environment variable if that is wrong", () => {
  process.env[carrierVariable] = "pigeon";
  expect(carrierHere).toThrow(/^RECOMMENDER_CARRIER: expected dynamic or plugin/);
});
