/** The document `sessions/<id>/turn`: who runs the turn of a session. Equal texts have equal versions, so each write differs from all before. */
import { isObject } from "../format/shape.ts"
import type { EntryLog } from "../log/entry-log.ts"

export interface TurnDocument {
  /** Of the last turn that had the lease. Grows by one with each. */
  readonly fence: number
  /** Absent: no turn has it. */
  readonly held?: Held
}

interface Held {
  /** Unique for each turn. */
  readonly by: string
  /** Milliseconds from one write to the time when others may take it. */
  readonly lease: number
  /** Grows with each write of the holder. */
  readonly count: number
  /** A turn was turned away since the holder has written. */
  readonly asked?: true
}

export type HeldTurn = TurnDocument & { readonly held: Held }

export function turnKey(session: string): string {
  return `sessions/${session}/turn`
}

export function encodeTurn(turn: TurnDocument): string {
  return JSON.stringify({ v: 1, ...turn })
}

/** Undefined for a text that is damaged, or of a newer version. */
export function decodeTurn(text: string): TurnDocument | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  if (!isObject(value) || value["v"] !== 1 || !Number.isSafeInteger(value["fence"])) return undefined
  const { held } = value
  return held === undefined || isHeld(held) ? (value as unknown as TurnDocument) : undefined
}

function isHeld(value: unknown): value is Held {
  if (!isObject(value)) return false
  const { by, lease, count } = value
  return typeof by === "string" && typeof lease === "number" && Number.isSafeInteger(count)
}

/** What a holder changes with each write. */
export function stateOfTurn({ fence, held }: TurnDocument): string {
  return `${fence} ${held?.count}`
}

/** The number of the last fence among the held entries; 0 if there is none. */
export function newestFence(log: EntryLog): number {
  for (let seq = log.end - 1; seq >= log.from; seq--) {
    const entry = log.at(seq)
    if (entry?.type === "fence" && Number.isSafeInteger(entry.fence)) return entry.fence
  }
  return 0
}
