/** A session in another storage, line by line as it is, with the blobs that its lines refer to. */
import { blobRefs } from "../format/blob-refs.ts"
import type { Diagnostic } from "../format/diagnostics.ts"
import { parseLine } from "../format/line.ts"
import { FORMAT, VERSION } from "../format/records.ts"
import { identifyLog } from "../format/identify.ts"
import type { CallOptions, SessionStorage } from "../storage/contract.ts"
import { notFound, readLines } from "../log/loaded-log.ts"
import { writeLog } from "./batches.ts"
import type { LineToWrite } from "./log-to-write.ts"
import { checkIdentity } from "./identity.ts"
import { withOriginLines } from "./headers.ts"
import type { CopyOptions, ImportResult } from "../session/types.ts"

/**
 * Every line as it is; the header of one of our logs that goes in several batches says besides how many lines there must be. The
 * same call again goes on where one was cut off, and brings a copy up to date whose source went on. `not_found`, `not_a_session`;
 * `exists` where the other storage has something else under this id; `too_large` before anything is written.
 */
export async function copySession(
  from: SessionStorage,
  id: string,
  to: SessionStorage,
  o: CopyOptions = {},
): Promise<ImportResult> {
  const signal = o.signal === undefined ? {} : { signal: o.signal }
  const head = await from.head(id, signal)
  if (head === undefined) throw notFound(from, id)
  const [header = ""] = await readLines(from, id, { from: 0, to: 1 }, signal)
  const ours = identifyLog([header]).kind === "sessions"
  const source = ours ? { format: FORMAT, version: VERSION } : await identifyOther(from, id, signal)
  const diagnostics: Diagnostic[] = []
  const blobs = new BlobCopier(from, to, signal, (diagnostic) => diagnostics.push(diagnostic))
  const written = await writeLog(
    to,
    {
      id,
      header: (lines) => (lines === undefined || !ours ? header : withOriginLines(header, lines, id)),
      before: () => blobs.copy(header, 0),
      lines: () => linesOf(from, id, head.next, blobs, signal),
    },
    // Only the header of one of our logs can say that a copy is not complete, so another's is created whole where that is possible.
    {
      ...signal,
      onProgress: o.onProgress,
      update: true,
      info: ours,
      ...(ours ? {} : { wholeBytes: to.capabilities.maxBatchBytes }),
    },
  )
  return { id, lines: written.lines, from: source, diagnostics }
}

async function* linesOf(
  from: SessionStorage,
  id: string,
  to: number,
  blobs: BlobCopier,
  o: CallOptions,
): AsyncGenerator<LineToWrite, void, undefined> {
  if (to === 1) return
  for await (const chunk of from.read(id, { from: 1, to }, o)) {
    for (const [index, line] of chunk.lines.entries()) {
      if (MAY_REFER.test(line)) yield { line, before: () => blobs.copy(line, chunk.from + index) }
      else yield { line }
    }
  }
}

async function identifyOther(from: SessionStorage, id: string, o: CallOptions): Promise<ImportResult["from"]> {
  const identity = identifyLog(await readLines(from, id, {}, o))
  // Lines can be taken along without knowing what they mean.
  if (identity.kind === "newer") return { format: "unknown", version: identity.version }
  checkIdentity(identity, `${id} in ${from.description}`, { session: id, storage: from.description })
  return { format: identity.kind === "older" ? identity.format : FORMAT, version: identity.version }
}

const MAY_REFER = /sha256:[0-9a-f]{64}/
const REFERENCE = /sha256:([0-9a-f]{64})/g

/** Copies each blob once. What a text merely looks like is copied where it is one, and nobody misses it where it is none. */
class BlobCopier {
  readonly #from: SessionStorage
  readonly #to: SessionStorage
  readonly #options: CallOptions
  readonly #note: (diagnostic: Diagnostic) => void
  readonly #done = new Map<string, Promise<boolean>>()

  constructor(from: SessionStorage, to: SessionStorage, options: CallOptions, note: (diagnostic: Diagnostic) => void) {
    this.#from = from
    this.#to = to
    this.#options = options
    this.#note = note
  }

  /** The blobs that a line refers to. */
  async copy(line: string, seq: number): Promise<void> {
    const hashes = new Set(Array.from(line.matchAll(REFERENCE), ([, hash]) => hash as string))
    const missing = new Set<string>()
    for (const hash of hashes) if (!(await this.#copyOnce(hash))) missing.add(hash)
    if (missing.size === 0) return
    for (const { hash } of blobRefs(parseLine(line).record ?? {})) {
      if (!missing.delete(hash)) continue
      const message = `Line ${seq} refers to the blob ${hash}, which is not in ${this.#from.description}.`
      this.#note({ code: "missing_blob", seq, message })
    }
  }

  #copyOnce(hash: string): Promise<boolean> {
    const known = this.#done.get(hash)
    if (known !== undefined) return known
    const copying = this.#copyBytes(hash)
    this.#done.set(hash, copying)
    return copying
  }

  async #copyBytes(hash: string): Promise<boolean> {
    const bytes = await this.#from.blobs.get(hash, this.#options)
    if (bytes === undefined) return false
    await this.#to.blobs.put(bytes, this.#options)
    return true
  }
}
