/** Reads the event log of a session of deepseek-harness. */
import { type Entry, type Header, SessionError } from "@sessions/core"
import { type Source, sourceOf } from "../base/codec.ts"
import type { Format, Note, ReadOptions, ReadSource } from "../base/format.ts"
import { type JsonLine, readJsonLines, type SourceLine } from "../base/json-lines.ts"
import { LogBuilder, type Payload } from "../base/log-builder.ts"
import { fieldsOf, numberOf, stringOf, timestampOf } from "../base/values.ts"
import { encode, FORMAT } from "./codec.ts"
import { headerOfLog, isHeader } from "./header.ts"
import { messageIdOf, messageOf } from "./messages.ts"
import { kindOfEvent } from "./record-types.ts"
import { Surface } from "./surface.ts"

export async function* read({ main }: ReadSource, { note }: ReadOptions): ReturnType<Format["read"]> {
  let log: EventLog | undefined
  for await (const lines of readJsonLines(main, note)) {
    const [first] = lines
    if (log === undefined) {
      if (!isHeader(first?.value)) throw new SessionError("not_a_session", "The log of deepseek-harness has no header.")
      const header = await headerOfLog(first.value)
      yield header
      log = new EventLog(header, note)
    }
    const entries: Entry[] = []
    for (const line of lines) entries.push(...log.take(line))
    yield entries
  }
}

class EventLog {
  readonly #log: LogBuilder
  readonly #note: Note
  readonly #toolNames = new Map<string, string>()
  readonly #surface = new Surface()

  constructor(header: Header, note: Note) {
    this.#log = new LogBuilder(header, note, kindOfEvent)
    this.#note = note
  }

  *take(line: SourceLine): Generator<Entry, void, undefined> {
    const { at, value } = line
    if (value === undefined) {
      yield this.#log.addUnreadable(line)
      return
    }
    const { type, data, seq, surfaceOp = "append" } = value
    const message = messageOf(value, this.#toolNames)
    const number = numberOf(seq) ?? -at
    const title = type === "session/title" ? stringOf(fieldsOf(data)["title"]) : undefined
    if (title !== undefined && title !== "") yield* this.#add(line, [{ type: "title_change", title, source: "auto" }])
    else if (message === undefined) yield this.#aside(line)
    else if (surfaceOp === "append") {
      const [entry] = this.#add(line, [{ type: "message", message }], messageIdOf(value))
      this.#surface.append(number, entry as Entry, message)
      yield entry as Entry
    } else {
      const replacement = this.#surface.replacedBy(number, surfaceOp, message)
      if (replacement === undefined) {
        const what = `In line ${at}, a message takes the place of others that the log does not have; it is kept aside.`
        this.#note({ code: "invalid_record", message: what })
        yield this.#aside(line)
        return
      }
      const entries = this.#add(line, replacement.payloads, messageIdOf(value))
      replacement.place((entries[0] as Entry).id)
      yield* entries
    }
  }

  #aside(line: JsonLine): Entry {
    const type = stringOf(line.value["type"]) ?? "event"
    return this.#add(line, [{ type: "custom", customType: `${FORMAT}/${type}`, data: line.value }])[0] as Entry
  }

  /** The first entry has the event as its source; the others follow from it. */
  #add({ at, value }: JsonLine, payloads: readonly Payload[], wanted?: string): readonly Entry[] {
    const timestamp = timestampOf(value["time"] ?? value["time0"] ?? value["createdAt"])
    const id = wanted === undefined || this.#log.has(wanted) ? `event-${at}` : wanted
    return payloads.map((payload, i) => {
      const source = i === 0 ? (entry: Entry): Source => sourceOf([at], [value], encode(entry)) : { at: [] }
      const own = i === 0 ? id : `${id}:${i}`
      const whole = payload.type === "compaction" ? { firstKeptEntryId: own, ...payload } : payload
      return this.#log.add(whole, { id: own, at, timestamp, source })
    })
  }
}
