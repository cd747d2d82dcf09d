/**
 * Replaces references to blobs that did not come with an imported file. All sessions of a storage share its blobs, so a file that
 * names the hash of another session's blob would show that session's content.
 */
import { substitute } from "../../context/missing-blobs.ts"
import { type BlobRef, blobRefs } from "../../format/blobs.ts"
import type { Report } from "../../format/diagnostics.ts"
import { withChanges } from "../../format/json-edit.ts"
import { parseLine } from "../../format/line.ts"
import { setAt } from "../../format/pointer.ts"
import { isObject } from "../../format/shape.ts"
import type { ImportOptions } from "../types.ts"
import type { Seq } from "../../storage/contract.ts"
import { parseHash } from "../named-hash.ts"

/** The blobs that came with the file: see {@link ImportOptions.blobs}. */
export type GivenBlobs = ReadonlySet<string> | "any"

export function givenBlobs(given: ImportOptions["blobs"]): GivenBlobs {
  return given === "any" ? given : new Set(given)
}

/** Every record with a reference has a key `blobs` or `blob`, perhaps with letters as escape sequences. */
const MAY_REFER = /blob|\\u/

/** The line without references to other blobs; the rest of it stays unchanged. */
export function lineWithGivenBlobs(line: string, given: GivenBlobs, seq: Seq, report?: Report): string {
  if (given === "any" || !MAY_REFER.test(line)) return line
  const { record } = parseLine(line)
  return record === undefined ? line : withChanges(line, record, withGivenBlobs(record, given, seq, report))
}

/** The record without references to other blobs; the same object if it has none. */
export function withGivenBlobs<R extends object>(record: R, given: GivenBlobs, seq: Seq, report?: Report): R {
  if (given === "any" || !mayRefer(record)) return record
  const others = new Set<string>()
  const isOther = (ref: unknown): boolean => {
    const hash = parseHash(ref)
    if (hash === undefined || given.has(hash)) return false
    others.add(hash)
    return true
  }
  const refs = blobRefs(record).filter(({ hash }) => isOther(hash))
  const kept = withoutBackup(withoutFiles(replaceReferences(record, refs), isOther), isOther)
  for (const hash of others)
    report?.({ code: "missing_blob", seq, ...entryIdOf(record), message: messageOf(seq, hash) })
  return kept
}

function mayRefer(record: object): boolean {
  const { type, blobs, origin } = record as { type?: unknown; blobs?: unknown; origin?: unknown }
  return blobs !== undefined || origin !== undefined || type === "file_snapshot"
}

/** The record with these of its references replaced, and not named in its `blobs`; the same object if there are none. */
function replaceReferences<R extends object>(record: R, refs: readonly BlobRef[]): R {
  if (refs.length === 0) return record
  const { blobs, ...rest } = setAt(record, new Map(refs.map((ref) => substitute(record, ref)))) as R & {
    blobs?: object
  }
  const replaced = new Set(refs.map(({ pointer }) => pointer))
  const left = Object.entries(blobs ?? {}).filter(([pointer]) => !replaced.has(pointer))
  return (left.length === 0 ? rest : { ...rest, blobs: Object.fromEntries(left) }) as R
}

/** A file without its content cannot be restored, and `blob: null` would mean that there was no such file. */
function withoutFiles<R extends object>(record: R, isOther: (ref: unknown) => boolean): R {
  const { type, files } = record as { type?: unknown; files?: unknown }
  if (type !== "file_snapshot" || !isObject(files)) return record
  const kept = Object.entries(files).filter(([, file]) => !(isObject(file) && isOther(file["blob"])))
  return kept.length === Object.keys(files).length ? record : { ...record, files: Object.fromEntries(kept) }
}

function withoutBackup<R extends object>(record: R, isOther: (ref: unknown) => boolean): R {
  const { origin } = record as { origin?: unknown }
  const backup = isObject(origin) ? origin["backup"] : undefined
  const blobs = isObject(backup) ? backup["blobs"] : undefined
  if (!isObject(origin) || !Array.isArray(blobs) || blobs.filter(isOther).length === 0) return record
  const { backup: _, ...rest } = origin
  return { ...record, origin: rest }
}

function entryIdOf(record: object): { entryId?: string } {
  const { id, seq } = record as { id?: unknown; seq?: unknown }
  return typeof id === "string" && seq !== undefined ? { entryId: id } : {}
}

function messageOf(seq: Seq, hash: string): string {
  return `Line ${seq} refers to the blob ${hash}, which did not come with the file; the reference was removed. If the blob belongs to the session, delete the session and import it again with this hash in \`blobs\`.`
}
