const plainIntervalMs = 10_000;

/**
 * Prints the current step and its progress. A terminal shows one line that is updated; other output gets a new line every
 * ten seconds.
 */
class Progress {
  /**
   * @param {Pick<NodeJS.WriteStream, "write"> & { isTTY?: boolean }} stream
   * @param {string} label printed at the start of each line
   */
  constructor(stream = process.stderr, label = "engine") {
    this.stream = stream;
    this.label = label;
    this.lastShownMs = 0;
    this.lineIsOpen = false;
  }

  /** Prints a line that stays. @param {string} text */
  say(text) {
    this.#closeLine();
    this.stream.write(`${this.label}: ${text}\n`);
    this.lastShownMs = Date.now();
  }

  /** Updates the progress of the current step. Calls that come too often print nothing. @param {string} text */
  at(text) {
    const sinceMs = Date.now() - this.lastShownMs;
    if (this.stream.isTTY && sinceMs >= 100) {
      this.stream.write(`\r\x1b[K${this.label}: ${text}`.slice(0, 80));
      this.lineIsOpen = true;
      this.lastShownMs = Date.now();
    } else if (!this.stream.isTTY && sinceMs >= plainIntervalMs) {
      this.say(text);
    }
  }

  #closeLine() {
    if (this.lineIsOpen) this.stream.write("\r\x1b[K");
    this.lineIsOpen = false;
  }
}

module.exports = { Progress };
