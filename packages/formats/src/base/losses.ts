/** Counts the contents that a written file does not hold, and reports each kind once. */
import type { Loss, WriteOptions } from "./format.ts"

export class Losses {
  readonly #counts = new Map<string, { count: number; readonly sentence: (count: number) => string }>()

  /** `sentence` says for a number of cases what is missing in the file. */
  add(what: string, count: number, sentence: (count: number) => string): void {
    if (count === 0) return
    const found = this.#counts.get(what)
    if (found === undefined) this.#counts.set(what, { count, sentence })
    else found.count += count
  }

  report({ note }: Pick<WriteOptions, "note">): void {
    for (const [what, { count, sentence }] of this.#counts)
      note?.({ what, count, message: sentence(count) } satisfies Loss)
  }
}
