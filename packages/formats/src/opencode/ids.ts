/**
 * Ids as opencode makes them: a prefix, 12 hex digits of the time, and 14 characters. opencode sorts messages by time and id and parts by id,
 * and the ids of all sessions share one table.
 */
import { sha256Hex } from "@sessions/core/storage"
import type { Header } from "@sessions/core"

const SUFFIX = 14

/** The id of a session that opencode does not know: later sessions have smaller ids. */
export async function opencodeIdOf({ id, timestamp }: Pick<Header, "id" | "timestamp">): Promise<string> {
  const units = BigInt(Date.parse(timestamp) || 0) * UNITS
  return `ses_${hexOf(~units)}${await suffixOf(id)}`
}

/** The end of all ids that are made for the messages of a session. */
export async function suffixOf(sessionId: string): Promise<string> {
  return (await sha256Hex(sessionId)).slice(0, SUFFIX)
}

/** opencode counts the ids of one millisecond. */
const UNITS = 0x1000n

function hexOf(units: bigint): string {
  return BigInt.asUintN(48, units).toString(16).padStart(12, "0")
}

/** Ascending ids with one suffix. */
export class AscendingIds {
  readonly #suffix: string
  #last = 0n

  constructor(suffix: string) {
    this.#suffix = suffix
  }

  /** `time`: milliseconds. An id is larger than all before it, also those of {@link after}. */
  next(prefix: "msg" | "prt", time: number): string {
    const units = BigInt(Math.max(0, Math.floor(time))) * UNITS + 1n
    this.#last = units > this.#last ? units : this.#last + 1n
    return `${prefix}_${hexOf(this.#last)}${this.#suffix}`
  }

  /** Ids that were made until this time exist. */
  after(time: number): void {
    const units = BigInt(Math.max(0, Math.floor(time)) + 1) * UNITS
    if (units > this.#last) this.#last = units
  }

  /** The id with this suffix: a copy of a session needs ids of its own. */
  renamed(id: string): string {
    return id.length > SUFFIX ? id.slice(0, -SUFFIX) + this.#suffix : id
  }
}
