/** Checks that the storage has the blobs that a log refers to. Looks each blob up once. */
import { blobRefs } from "../format/blobs.ts"
import type { Diagnostic } from "../format/diagnostics.ts"
import type { Entry } from "../format/entry.ts"
import type { Header } from "../format/header.ts"
import { isObject } from "../format/shape.ts"
import type { CallOptions, Seq, SessionStorage } from "../storage/contract.ts"

export class BlobCheck {
  readonly #storage: SessionStorage
  readonly #report: (diagnostic: Diagnostic) => unknown
  readonly #options: CallOptions
  readonly #foreign: boolean
  readonly #known = new Map<string, boolean>()

  /** `foreign`: also searches entries without a `blobs` field, as in logs of other systems. */
  constructor(
    storage: SessionStorage,
    report: (diagnostic: Diagnostic) => unknown,
    { foreign = false, ...options }: CallOptions & { readonly foreign?: boolean },
  ) {
    this.#storage = storage
    this.#report = report
    this.#options = options
    this.#foreign = foreign
  }

  async check(entry: Entry, seq: Seq): Promise<void> {
    const hashes = [...blobRefs(entry, { foreign: this.#foreign }).map(({ hash }) => hash), ...snapshotHashes(entry)]
    await this.#checkAll(hashes, seq, `Entry ${entry.id} (line ${seq})`, entry.id)
  }

  /** The backup of a migration. */
  async checkHeader(header: Header): Promise<void> {
    const { blobs } = header.origin?.backup ?? {}
    const hashes = Array.isArray(blobs) ? (blobs as readonly unknown[]).flatMap(hashOf) : []
    await this.#checkAll(hashes, 0, "The header, as a backup,")
  }

  async #checkAll(hashes: readonly string[], seq: Seq, subject: string, entryId?: string): Promise<void> {
    for (const hash of new Set(hashes)) {
      if (await this.#has(hash)) continue
      const message = `${subject} refers to the blob ${hash}, which is not in ${this.#storage.description}.`
      this.#report({ code: "missing_blob", seq, ...(entryId === undefined ? {} : { entryId }), message })
    }
  }

  async #has(hash: string): Promise<boolean> {
    const known = this.#known.get(hash)
    if (known !== undefined) return known
    const has = await this.#storage.blobs.has(hash, this.#options)
    this.#known.set(hash, has)
    return has
  }
}

function snapshotHashes(entry: Entry): readonly string[] {
  const { type, files } = entry as Readonly<Record<string, unknown>>
  if (type !== "file_snapshot" || !isObject(files)) return []
  return Object.values(files).flatMap((file) => (isObject(file) ? hashOf(file["blob"]) : []))
}

function hashOf(ref: unknown): readonly string[] {
  const hash = typeof ref === "string" ? /^(?:sha256:)?([0-9a-f]{64})$/.exec(ref)?.[1] : undefined
  return hash === undefined ? [] : [hash]
}
