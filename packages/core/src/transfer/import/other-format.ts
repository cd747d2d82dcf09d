/** Imports a session of another format: an `Importer` of the caller reads the file and yields the records of the log. */
import type { BlobLimits } from "../../format/blobs.ts"
import type { Report } from "../../format/diagnostics.ts"
import type { Entry } from "../../format/entry.ts"
import { entryProblem } from "../../format/entry-problems.ts"
import { SessionError } from "../../format/errors.ts"
import { type Header, headerProblem, type Origin } from "../../format/header.ts"
import { joinBytes } from "../../format/jsonl.ts"
import { encodeHeader } from "../../format/line.ts"
import { isObject } from "../../format/shape.ts"
import type { Importer, ImportOptions } from "../types.ts"
import { checkSignal, signalOf } from "../../storage/signals.ts"
import type { SessionStorage } from "../../storage/contract.ts"
import { withCreationOf } from "../headers.ts"
import { type GivenBlobs, withGivenBlobs } from "./given-blobs.ts"
import { type ChunkSource, otherFormatError } from "./source.ts"
import { toStoredForm } from "../write/stored-form.ts"
import type { ImportedLog, LineToWrite } from "../write/log-to-write.ts"

/** How much of the text `identify` gets, in UTF-16 units. */
const START_UNITS = 65_536

/** How many UTF-16 units of lines are yielded at a time, about. */
const GROUP_UNITS = 65_536

/** Reads the beginning of the session, for its header. Throws `not_a_session`, and `invalid` for a wrong importer or header. */
export async function otherLogToWrite(
  storage: SessionStorage,
  chunks: ChunkSource,
  importer: Importer,
  id: string,
  limits: BlobLimits,
  given: GivenBlobs,
  o: ImportOptions,
): Promise<ImportedLog> {
  checkImporter(importer)
  const { format } = importer
  if (!importer.identify(await startOf(chunks, o)))
    throw otherFormatError(format, "Its importer does not know the file.")
  const found = await firstRecord(recordsOf(chunks, importer, undefined, o))
  const header = withGivenBlobs(checkHeader(found, importer, id), given, 0)
  const line = encodeHeader(header)
  let counted: number | undefined
  return {
    id,
    // Until the log is measured, its lines are counted with as many digits as they can have.
    header: (lines = counted ?? Number.MAX_SAFE_INTEGER) => encodeHeader(withCount(header, lines)),
    async *lines(report) {
      let seq = 0
      for await (const yielded of recordsOf(chunks, importer, report, o)) {
        let lines: LineToWrite[] = []
        let units = 0
        for (const record of asRecords(yielded)) {
          if (seq === 0) {
            const again = withGivenBlobs(checkHeader(record, importer, id), given, 0, report)
            if (encodeHeader(again) !== line) throw changedFileError(format)
          } else {
            const entry = withGivenBlobs(checkEntry(record, seq, format), given, seq, report)
            const made = toStoredForm(storage, entry, seq, limits)
            const next = "line" in made ? made : await made
            lines.push(next)
            units += next.line.length
          }
          seq++
          // An importer may yield a whole log at once, whose lines need not be in memory as well.
          if (units < GROUP_UNITS) continue
          yield lines
          lines = []
          units = 0
        }
        if (lines.length > 0) yield lines
      }
      counted = seq
    },
    readOnce: true,
    from: { format, version: header.origin.version },
  }
}

type OtherHeader = Header & { readonly origin: Origin }

/** The records of one call of `read`. Without `report`, its diagnostics are left out. */
function recordsOf(
  chunks: ChunkSource,
  importer: Importer,
  report: Report | undefined,
  o: ImportOptions,
): AsyncIterable<unknown> {
  const beside = (name: string): AsyncIterable<Uint8Array> | undefined => {
    const file = o.beside?.(name)
    return file && checked(file, o.signal)
  }
  const note: Report = (diagnostic) => report?.(diagnostic)
  return importer.read({ main: textOf(chunks, o, report), beside }, { ...signalOf(o), note })
}

function asRecords(given: unknown): readonly unknown[] {
  return Array.isArray(given) ? given : [given]
}

async function firstRecord(records: AsyncIterable<unknown>): Promise<unknown> {
  for await (const given of records) for (const record of asRecords(given)) return record
  return undefined
}

async function startOf(chunks: ChunkSource, o: ImportOptions): Promise<string> {
  let start = ""
  for await (const text of textOf(chunks, o)) {
    start += text
    if (start.length >= START_UNITS) break
  }
  return start.slice(0, START_UNITS)
}

/** The file as text, without its BOM. Bytes that are not UTF-8 become U+FFFD, and are reported once. */
async function* textOf(
  chunks: ChunkSource,
  o: ImportOptions,
  report?: Report,
): AsyncGenerator<string, void, undefined> {
  let isReported = false
  const decode = (bytes: Uint8Array): string => {
    try {
      return strictDecoder.decode(bytes)
    } catch {
      const message = "The file is not UTF-8. Bytes that cannot be read were replaced by U+FFFD."
      if (!isReported) report?.({ code: "unparsable_line", message })
      isReported = true
      return lenientDecoder.decode(bytes)
    }
  }
  /** The beginning of a character whose other bytes are in the next chunk. */
  let open: Uint8Array = NO_BYTES
  let isFirst = true
  for await (const chunk of checked(chunks(), o.signal)) {
    let text: string
    if (typeof chunk === "string") {
      // Text ends a character that the bytes before it have begun.
      text = decode(open) + chunk
      open = NO_BYTES
    } else {
      const bytes = open.length === 0 ? chunk : joinBytes([open, chunk])
      const end = bytes.length - openLength(bytes)
      text = decode(bytes.subarray(0, end))
      // Copied because a source may reuse its buffer.
      open = end === bytes.length ? NO_BYTES : bytes.slice(end)
    }
    if (text === "") continue
    if (isFirst) text = text.replace(/^\uFEFF/, "")
    isFirst = false
    if (text !== "") yield text
  }
  const rest = decode(open)
  if (rest !== "") yield rest
}

// Whole chunks are decoded several times as fast as with the option `stream`.
const strictDecoder = new TextDecoder("utf-8", { ignoreBOM: true, fatal: true })
const lenientDecoder = new TextDecoder("utf-8", { ignoreBOM: true })
const NO_BYTES = new Uint8Array()

/** How many bytes at the end begin a character of which more bytes follow: 0 to 3. */
function openLength(bytes: Uint8Array): number {
  for (let n = 1; n <= Math.min(3, bytes.length); n++) {
    const byte = bytes[bytes.length - n] as number
    if ((byte & 0xc0) === 0x80) continue
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1
    return length > n ? n : 0
  }
  return 0
}

/** Ends a reading when the import is aborted, also in an importer that does not look at the signal. */
async function* checked<T>(
  source: AsyncIterable<T> | Iterable<T>,
  signal: AbortSignal | undefined,
): AsyncGenerator<T, void, undefined> {
  for await (const chunk of source) {
    checkSignal(signal)
    yield chunk
  }
}

/** The file's branches were left knowingly: they have no `leaf` entries that say so. */
function withCount(header: OtherHeader, lines: number): Header {
  return { ...header, origin: { settled: lines, ...header.origin, lines } }
}

function checkImporter(importer: Importer): void {
  const isNamed = typeof importer.format === "string" && importer.format !== ""
  const mayHold = importer.hold === undefined || typeof importer.hold === "function"
  if (isNamed && mayHold && typeof importer.identify === "function" && typeof importer.read === "function") return
  throw new SessionError(
    "invalid",
    "An importer needs `format`, the name of its format, and the functions `identify` and `read`; `hold` is one, too.",
  )
}

function checkHeader(record: unknown, { format }: Importer, id: string): OtherHeader {
  const header = isObject(record) && record["type"] === "session" ? { ...record, id } : undefined
  if (header === undefined) throw refusedError(format, 0, "The first record must be the header, of type session.")
  const problem = headerProblem(header)
  if (problem !== undefined) throw refusedError(format, 0, problem)
  const { origin } = header as Partial<OtherHeader>
  if (origin?.format === format) return withCreationOf(header as unknown as OtherHeader)
  throw refusedError(format, 0, `origin.format must be ${JSON.stringify(format)}, the importer's format.`)
}

function checkEntry(record: unknown, seq: number, format: string): Entry {
  const entry = isObject(record) && record["seq"] !== seq ? { ...record, seq } : record
  const problem = entryProblem(entry)
  if (problem !== undefined) throw refusedError(format, seq, problem)
  return entry as Entry
}

function refusedError(format: string, seq: number, problem: string): SessionError {
  const message = `The importer of "${format}" yielded a wrong record (number ${seq}, the header being 0). ${problem}`
  return new SessionError("invalid", message)
}

function changedFileError(format: string): SessionError {
  const message = `The importer of "${format}" yielded different headers in two readings: the file changed, or its importer does not repeat itself.`
  return new SessionError("conflict", message)
}
