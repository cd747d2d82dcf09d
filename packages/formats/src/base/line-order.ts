/** Puts the lines of a written file into the order of the source: the entries of a log may be in a slightly different one. */
export class LineOrder {
  /** Line numbers in ascending order. */
  readonly #order: readonly number[]
  readonly #waiting = new Map<number, string>()
  #next = 0

  /** `order`: the numbers of all lines that will be given. */
  constructor(order: readonly number[]) {
    this.#order = order
  }

  /** The text of a line; returns the lines that can be written now. */
  take(at: number, text: string): string {
    this.#waiting.set(at, text)
    let ready = ""
    for (;;) {
      const due = this.#order[this.#next]
      const line = due === undefined ? undefined : this.#waiting.get(due)
      if (due === undefined || line === undefined) return ready
      this.#waiting.delete(due)
      this.#next++
      ready += line
    }
  }

  /** The lines that are left when a line was not given. */
  rest(): string {
    const lines = [...this.#waiting].sort(([a], [b]) => a - b)
    this.#waiting.clear()
    return lines.map(([, text]) => text).join("")
  }
}
