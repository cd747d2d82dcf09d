/**
 * The argument checks of all storages, so that every adapter rejects the same arguments with the same texts. Each throws a
 * {@link StorageError} with code `invalid`, or `unsupported`.
 */
import {
  type Capabilities,
  type Head,
  MAX_INFO_BYTES,
  type ReadRange,
  type Seq,
  type SessionStorage,
  type StorageAppendOptions,
  type StorageListOptions,
} from "./contract.ts"
import { isDeepJson, MAX_DEPTH } from "./depth.ts"
import { invalidError, StorageError } from "./errors.ts"
import { shown } from "./options.ts"
import { batchBytes, fits, isWellFormed, utf8Length } from "./utf8.ts"

const SESSION_ID = /^[\w-](?:[\w.:@+~-]*[\w-])?$/
const DOC_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/
const HASH = /^[0-9a-f]{64}$/

/** 1-128 characters `[A-Za-z0-9_-.:@+~]`, of which the last five are not first or last, no "..". */
export function isSessionId(id: unknown): id is string {
  return typeof id === "string" && id.length <= 128 && SESSION_ID.test(id) && !id.includes("..")
}

export function checkSessionId(id: unknown): asserts id is string {
  if (isSessionId(id)) return
  throw invalidError(
    `${shown(id)} is not a session id: use 1 to 128 of A-Z a-z 0-9 _ - . : @ + ~ , the last five not first or last, and no "..".`,
  )
}

/** Throws `invalid` for a value that is no storage. `call`: the function that gets it. */
export function checkStorage(call: string, storage: SessionStorage): void {
  if (typeof storage?.capabilities?.maxBatchBytes === "number") return
  throw invalidError(
    `${call} needs a storage, such as createFileStorage({ root: "./sessions" }), not ${shown(storage)}.`,
  )
}

/**
 * Checks a batch: not empty; each line a non-empty well-formed string without LF, at most `maxLineBytes`; together at most
 * `maxBatchBytes`. Bytes are counted only if the number of UTF-16 units does not decide it: a unit has at most 3 bytes.
 */
export function checkLines(
  lines: readonly string[],
  capabilities: Pick<Capabilities, "maxLineBytes" | "maxBatchBytes">,
): void {
  if (!Array.isArray(lines) || lines.length === 0) throw invalidError("An append needs at least one line.")
  let units = 0
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index] as string
    if (typeof line !== "string" || line === "") {
      throw invalidError(`Line ${index} of the batch is not a string, or is empty.`)
    }
    if (line.includes("\n")) {
      throw invalidError(`Line ${index} of the batch contains a line feed; append two lines instead.`)
    }
    if (!isWellFormed(line)) {
      throw invalidError(`Line ${index} of the batch has a lone surrogate, which UTF-8 cannot hold; escape it.`)
    }
    units += line.length + 1
    if (!fits(line, capabilities.maxLineBytes)) {
      throw invalidError(
        `Line ${index} has ${utf8Length(line)} bytes; this storage takes ${capabilities.maxLineBytes}.`,
      )
    }
  }
  if (units * 3 > capabilities.maxBatchBytes && batchBytes(lines) > capabilities.maxBatchBytes) {
    throw invalidError(`The batch has ${batchBytes(lines)} bytes; this storage takes ${capabilities.maxBatchBytes}.`)
  }
}

export function checkAppendOptions(o: StorageAppendOptions): void {
  if (o === undefined || o === null || (o.expect !== 0 && !isHead(o.expect))) {
    throw invalidError("An append needs `expect`: the head to append after, or 0 to create the session.")
  }
  if (o.info !== undefined && (typeof o.info !== "string" || !fits(o.info, MAX_INFO_BYTES))) {
    throw invalidError(`\`info\` must be a string of at most ${MAX_INFO_BYTES} bytes.`)
  }
}

export function isHead(head: unknown): head is Head {
  if (typeof head !== "object" || head === null) return false
  const { next, log } = head as Partial<Head>
  return Number.isSafeInteger(next) && (next as number) > 0 && typeof log === "string"
}

/** A range with its defaults filled in. With `maxBytes` it is a window: only the last of these lines that have at most that many bytes. */
export interface CheckedRange {
  readonly from: Seq
  /** {@link Number.MAX_SAFE_INTEGER} means the end. */
  readonly to: Seq
  readonly maxBytes: number | undefined
  readonly log: string | undefined
}

export function checkRange(range: ReadRange = {}): CheckedRange {
  const { from, to, before, maxBytes, log } = range as Partial<
    Record<"from" | "to" | "before" | "maxBytes" | "log", unknown>
  >
  const whole = (name: string, value: unknown, least = 0): number | undefined => {
    if (value === undefined || (Number.isSafeInteger(value) && (value as number) >= least)) return value as number
    throw invalidError(`\`${name}\` of a range must be a whole number from ${least}, not ${shown(value)}.`)
  }
  if (log !== undefined && typeof log !== "string") {
    throw invalidError("`log` of a range must be a string: the `log` of a head.")
  }
  if (maxBytes === undefined && before !== undefined) {
    throw invalidError("`before` of a range needs `maxBytes`; use `to` without it.")
  }
  if (maxBytes !== undefined && (from !== undefined || to !== undefined)) {
    throw invalidError("A range has either `from` and `to`, or `before` and `maxBytes`.")
  }
  return {
    from: whole("from", from) ?? 0,
    to: whole("to", to) ?? whole("before", before) ?? Number.MAX_SAFE_INTEGER,
    maxBytes: whole("maxBytes", maxBytes, 1),
    log,
  }
}

/** `limit` must be a whole number from 0, `after` a session id. Throws `unsupported` for `after` if the list is not ordered by id. */
export function checkListOptions(o: StorageListOptions, capabilities: Capabilities): void {
  if (o.limit !== undefined && !(Number.isSafeInteger(o.limit) && o.limit >= 0)) {
    throw invalidError(`\`limit\` of a list must be a whole number from 0, not ${shown(o.limit)}.`)
  }
  if (o.after === undefined) return
  if (capabilities.listOrder !== "id") {
    throw new StorageError("unsupported", "This storage lists the newest first and cannot start after an id.")
  }
  checkSessionId(o.after)
}

/** A document must be a string without lone surrogates, and if it is JSON, not be nested deeply. */
export function checkDocText(text: unknown): asserts text is string {
  if (typeof text !== "string") throw invalidError(`A document must be a string, not ${typeof text}.`)
  if (!isWellFormed(text)) throw invalidError("The document has a lone surrogate, which UTF-8 cannot hold; escape it.")
  if (isDeepJson(text)) throw new StorageError("too_large", `The document has over ${MAX_DEPTH} levels.`)
}

/** Splits a document key, `<name>` or `sessions/<id>/<name>`; throws `invalid` for anything else. */
export function parseDocKey(key: string): { readonly session?: string; readonly name: string } {
  const parts = typeof key === "string" ? key.split("/") : []
  const name = parts.at(-1) ?? ""
  const named = DOC_NAME.test(name) && !name.includes("..") && !name.endsWith(".")
  if (named && parts.length === 1) return { name }
  if (named && parts.length === 3 && parts[0] === "sessions" && isSessionId(parts[1]))
    return { session: parts[1], name }
  throw invalidError(
    `${shown(key)} is not a document key: use "<name>" or "sessions/<id>/<name>", with 1 to 64 of A-Z a-z 0-9 . _ - in the name.`,
  )
}

export function checkHash(hash: unknown): asserts hash is string {
  if (typeof hash === "string" && HASH.test(hash)) return
  throw invalidError("The hash of a blob must be the 64 lower-case hex digits of its SHA-256.")
}
