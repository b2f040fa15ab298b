const plainIntervalMs = 10_000;

/**
 * Says what is being done and how far it is: one line rewritten in place in a terminal, otherwise a plain
 * line every ten seconds.
 */
class Progress {
  /**
   * @param {Pick<NodeJS.WriteStream, "write"> & { isTTY?: boolean }} stream
   * @param {string} of the first word of each line
   */
  constructor(stream = process.stderr, of = "engine") {
    this.stream = stream;
    this.of = of;
    this.lastShownMs = 0;
    this.lineIsOpen = false;
  }

  /** A line that stays. @param {string} text */
  say(text) {
    this.#closeLine();
    this.stream.write(`${this.of}: ${text}\n`);
    this.lastShownMs = Date.now();
  }

  /** How far the present step is; may be called as often as one likes. @param {string} text */
  at(text) {
    const sinceMs = Date.now() - this.lastShownMs;
    if (this.stream.isTTY && sinceMs >= 100) {
      this.stream.write(`\r\x1b[K${this.of}: ${text}`.slice(0, 80));
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
