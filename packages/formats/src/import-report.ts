/**
 * What an import says of a file: its title, and what no model gets of it: parts that it does not have or has encrypted, and records of kinds that are not
 * known. Counted while the file is read, since the log of a large one takes long to read again.
 */
import type { Entry, Header } from "@sessions/core"
import type { Format, Loss } from "./base/format.ts"
import { Losses } from "./base/losses.ts"
import { lostHistoryOf } from "./base/lost-history.ts"
import { textLengthOf, unknownRecordOf } from "./base/record-types.ts"
import { fieldsOf, stringOf } from "./base/values.ts"

export class ImportReport {
  #losses = new Losses()
  #title: string | undefined
  #isChosen = false
  #prompt: string | undefined
  #isWhole = false

  /** As the agent has it: one that a person chose, else the last one, else how the session began if its beginning was read. */
  get title(): string | undefined {
    return this.#title ?? (this.#isWhole ? this.#prompt : undefined)
  }

  /** The format, whose reading is counted. A file that is read again is counted anew. */
  counting(format: Format): Format {
    return { ...format, read: (...given) => this.counted(format.read(...given)) }
  }

  /** Yields the records as they come, several at a time: a step of an iterator for each one would cost as much as parsing it. */
  async *counted<R extends Header | Entry>(
    records: AsyncIterable<R | readonly R[]>,
  ): AsyncGenerator<R | readonly R[], void, undefined> {
    this.#losses = new Losses()
    this.#title = undefined
    this.#isChosen = false
    this.#prompt = undefined
    for await (const some of records) {
      for (const record of [some].flat() as readonly R[]) {
        if (record.type === "session") {
          this.#title = record.title
          this.#isWhole = true
        } else this.#add(record)
      }
      yield some
    }
  }

  #add(entry: Entry): void {
    if (entry.type === "title_change") this.#name(entry)
    else this.#prompt ??= promptOf(entry)
    const record = unknownRecordOf(entry)
    if (record === undefined) return
    const history = lostHistoryOf(record)
    if (history !== undefined) this.#losses.add(`history ${history}`, 1, () => history)
    else this.#losses.add("unknown", 1, unknownRecords, textLengthOf(record))
  }

  #name({ title, source }: Entry & { readonly type: "title_change" }): void {
    const isChosen = source === "user"
    if (this.#isChosen && !isChosen) return
    this.#title = title ?? undefined
    this.#isChosen = isChosen
  }

  get losses(): readonly Loss[] {
    const found: Loss[] = []
    this.#losses.report({ note: (loss) => found.push({ ...loss, what: loss.what.replace(/ .*/s, "") }) })
    return found
  }
}

function promptOf(entry: Entry): string | undefined {
  if (entry.type !== "message" || entry.message.role !== "user" || entry.message.synthetic === true) return undefined
  const { text } = fieldsOf(entry.message.content.find(({ type }) => type === "text"))
  return stringOf(text)
}

function unknownRecords(count: number, withText: string): string {
  return `${count} records${withText}, whose kinds are not known, are shown and searched, and sent to no model.`
}
