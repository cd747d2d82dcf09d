/** Counts the contents that a written file does not hold, and reports each kind once. */
import type { Loss, WriteOptions } from "./format.ts"

interface Counted {
  count: number
  characters: number
  readonly sentence: (count: number, withText: string) => string
}

export class Losses {
  readonly #counts = new Map<string, Counted>()

  /**
   * `sentence` says for a number of cases what is missing in the file. `characters`: how much text they have, which the sentence says in
   * the words that it is given.
   */
  add(what: string, count: number, sentence: Counted["sentence"], characters = 0): void {
    if (count === 0) return
    const found = this.#counts.get(what)
    if (found === undefined) this.#counts.set(what, { count, characters, sentence })
    else {
      found.count += count
      found.characters += characters
    }
  }

  report({ note }: Pick<WriteOptions, "note">): void {
    for (const [what, { count, characters, sentence }] of this.#counts) {
      const message = sentence(count, withText(characters))
      note?.({ what, count, message, ...(characters === 0 ? {} : { characters }) } satisfies Loss)
    }
  }
}

function withText(characters: number): string {
  return characters === 0 ? "" : ` with ${grouped(characters)} characters of text`
}

/** With commas, in every locale. */
function grouped(count: number): string {
  return String(count).replaceAll(/\B(?=(?:\d{3})+$)/g, ",")
}
