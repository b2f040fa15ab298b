const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");

// Each test file has a recovery journal of its own: resources of the same name are declared in several of them.
process.env.XDG_STATE_HOME = fs.mkdtempSync(path.join(process.env.XDG_STATE_HOME ?? os.tmpdir(), "file-"));
