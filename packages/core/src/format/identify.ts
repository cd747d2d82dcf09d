/** Identifies a log by its first lines: its format, its version, and which program wrote an older one. */
import { SessionError, type SessionErrorDetails } from "./errors.ts"
import { isTitleSlot, type LogRecord, parseLine } from "./line.ts"
import { FORMAT, type Header, VERSION } from "./header.ts"
import { isObject } from "./shape.ts"
import { shown } from "../storage/options.ts"

export type OlderVersion = 1 | 2 | 3
/** The program that wrote an older log. Both have versions 1 to 3, with different entries. */
export type OlderFormat = "pi" | "oh-my-pi"

export type LogIdentity =
  | { readonly kind: "sessions"; readonly version: typeof VERSION; readonly header: Header }
  | { readonly kind: "older"; readonly version: OlderVersion; readonly format: OlderFormat }
  /** An unknown version, or version 4 and later of another program. */
  | { readonly kind: "newer"; readonly version: number }
  /** No lines, or only blank ones: a session may be created. */
  | { readonly kind: "empty" }
  /** Not a session. `reason` is the end of a sentence. */
  | { readonly kind: "foreign"; readonly reason: string }

/** The identity from the first lines alone. Which program wrote an older log follows from its entries. */
export type StartIdentity =
  | Exclude<LogIdentity, { kind: "older" }>
  | { readonly kind: "older"; readonly version: OlderVersion }

/**
 * Identifies a log by its first lines, or all of them; never throws. Skips lines that are not records, a BOM, a CR and the title slot.
 * The first line that only one of the two programs writes decides the format of an older log; without one it is `pi`.
 */
export function identifyLog(lines: readonly string[]): LogIdentity {
  const start = readStart(lines)
  const identity = identifyStart(lines, start)
  return identity.kind === "older" ? { ...identity, format: formatOf(start, parsed(lines, start.next)) } : identity
}

export function identifyStart(lines: readonly string[], start: LogStart): StartIdentity {
  const { first, titleSlot, strays } = start
  const stray = strays[0] === undefined ? undefined : (lines[strays[0]] ?? "")
  const otherVersion = stray === undefined ? undefined : versionOfUntyped(stray)
  if (otherVersion !== undefined && otherVersion >= VERSION) return { kind: "newer", version: otherVersion }
  if (first === undefined) {
    if (titleSlot !== undefined) return foreign("it has a title, but no session header")
    return stray === undefined ? { kind: "empty" } : foreign("none of its lines is a record")
  }
  if (first.type !== "session") {
    return foreign(`its first record is of type ${shown(first.type)}, not a session header`)
  }
  return identifyHeader(first)
}

/** Throws `not_a_session` or `newer_version` for a log that this version cannot take over; `subject` begins the message. */
export function checkIdentity<I extends StartIdentity>(
  identity: I,
  subject: string,
  about: SessionErrorDetails = {},
): asserts identity is Extract<I, { readonly kind: "sessions" | "older" }> {
  switch (identity.kind) {
    case "sessions":
    case "older":
      return
    case "newer": {
      const message = `${subject} ${unknownVersion(identity.version)}. Use a newer program.`
      throw new SessionError("newer_version", message, about)
    }
    case "empty":
      throw new SessionError("not_a_session", `${subject} is empty; there is no session in it.`, about)
    case "foreign":
      throw new SessionError("not_a_session", `${subject} is not a session: ${identity.reason}.`, about)
  }
}

/** Why a log of a newer version cannot be read, as the end of a sentence. */
export function unknownVersion(version: number): string {
  return version === VERSION
    ? `says version ${version} and is no log of ${FORMAT}; logs of other programs are known up to version ${VERSION - 1}`
    : `is of version ${version}, which this program does not know`
}

/** The program that wrote an older log. */
export function formatOf(start: LogStart, records: Iterable<LogRecord>): OlderFormat {
  if (start.titleSlot !== undefined) return "oh-my-pi"
  const fromHeader = start.first === undefined ? undefined : headerSign(start.first)
  if (fromHeader !== undefined) return fromHeader
  for (const record of records) {
    const sign = entrySign(record)
    if (sign !== undefined) return sign
  }
  return "pi"
}

function identifyHeader(header: LogRecord): StartIdentity {
  const version = header["version"] ?? 1
  if (typeof version !== "number" || !Number.isSafeInteger(version) || version < 1) {
    return foreign("the version in its header is not a whole number from 1")
  }
  const ours = header["format"] === FORMAT
  if (ours && version === VERSION) return { kind: "sessions", version: VERSION, header: header as Header }
  if (version >= VERSION) return { kind: "newer", version }
  if (ours) return foreign(`its header says ${FORMAT}, version ${version}, which never was`)
  if (typeof header["id"] !== "string") return foreign("its header has no id")
  return { kind: "older", version: version as OlderVersion }
}

/** The version of a header `{"v":4,"kind":"header",…}`, as pi writes it from version 4 on. */
function versionOfUntyped(line: string): number | undefined {
  try {
    const value: unknown = JSON.parse(line.replace(/^\uFEFF/, ""))
    if (!isObject(value) || value["kind"] !== "header") return undefined
    return typeof value["v"] === "number" ? value["v"] : undefined
  } catch {
    return undefined
  }
}

const OH_MY_PI_TYPES: ReadonlySet<string> = new Set([
  "title_change",
  "reset_boundary",
  "ttsr_injection",
  "mode_change",
  "session_init",
  "service_tier_change",
  "credential_pin",
  "mcp_tool_selection",
  "model_usage",
  "archive",
])
const PI_TYPES: ReadonlySet<string> = new Set(["session_info", "leaf", "active_tools_change"])

function headerSign(header: LogRecord): OlderFormat | undefined {
  if (hasAny(header, ["title", "titleSource", "additionalDirectories"])) return "oh-my-pi"
  return hasAny(header, ["provider", "modelId", "branchedFrom"]) ? "pi" : undefined
}

function entrySign(record: LogRecord): OlderFormat | undefined {
  if (OH_MY_PI_TYPES.has(record.type)) return "oh-my-pi"
  if (PI_TYPES.has(record.type)) return "pi"
  switch (record.type) {
    case "model_change":
      if (hasAny(record, ["modelId"])) return "pi"
      return typeof record["model"] === "string" ? "oh-my-pi" : undefined
    case "thinking_level_change":
      return typeof record["thinkingLevel"] === "string" ? undefined : "oh-my-pi"
    case "compaction":
    case "branch_summary":
      if (hasAny(record, ["fromHook"])) return "pi"
      return hasAny(record, ["fromExtension", "shortSummary", "preserveData"]) ? "oh-my-pi" : undefined
    default:
      return undefined
  }
}

function hasAny(record: LogRecord, keys: readonly string[]): boolean {
  return keys.some((key) => record[key] !== undefined)
}

function* parsed(lines: readonly string[], from: number): Generator<LogRecord> {
  for (let at = from; at < lines.length; at++) {
    const { record } = parseLine(lines[at] ?? "")
    if (record !== undefined) yield record
  }
}

function foreign(reason: string): { readonly kind: "foreign"; readonly reason: string } {
  return { kind: "foreign", reason }
}

/** The beginning of a log. */
export interface LogStart {
  readonly titleSlot: LogRecord | undefined
  /** The first record that is not the title slot. */
  readonly first: LogRecord | undefined
  /** Indexes of the lines before it that are not records. */
  readonly strays: readonly number[]
  /** Index of the line after it. */
  readonly next: number
}

export function readStart(lines: readonly string[]): LogStart {
  const strays: number[] = []
  let titleSlot: LogRecord | undefined
  for (const [at, line] of lines.entries()) {
    const { record } = parseLine(line)
    if (record !== undefined && !isTitleSlot(record)) return { titleSlot, first: record, strays, next: at + 1 }
    if (record !== undefined && titleSlot === undefined) titleSlot = record
    else if (!isBlank(line)) strays.push(at)
  }
  return { titleSlot, first: undefined, strays, next: lines.length }
}

export function isBlank(line: string): boolean {
  return line.trim() === ""
}

/** Whether two headers are of one creation. One that does not say of which, as of older programs, has its timestamp alone. */
export function isSameCreation(one: Header, other: Header): boolean {
  const known = typeof one.creation === "string" && typeof other.creation === "string"
  return one.timestamp === other.timestamp && (!known || one.creation === other.creation)
}
