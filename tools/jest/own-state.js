const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");

// Tests run as on a developer's machine: on a CI runner, a stack without an address is refused.
for (const name of ["CI", "TF_BUILD", "JENKINS_URL", "TEAMCITY_VERSION", "CODEBUILD_BUILD_ID"])
  delete process.env[name];

// Each test file has a recovery journal of its own: resources of the same name are declared in several of them.
process.env.XDG_STATE_HOME = fs.mkdtempSync(path.join(process.env.XDG_STATE_HOME ?? os.tmpdir(), "file-"));
