/**
 * The documents that say who runs the turn of a session: `sessions/<id>/turn`, and that of the session API, which has its prompts beside the
 * same fields. Equal texts have equal versions, so each write differs from all before.
 */
import { isObject } from "./shape.ts"

export interface TurnDocument {
  /** That of the last turn that had the lease. Grows by one with each. */
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

/** Where the session API has the lease of a session, with its prompts. */
export function promptsKey(session: string): string {
  return `sessions/${session}/prompts`
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

/** A text that a holder changes with each write. */
export function stateOfTurn({ fence, held }: TurnDocument): string {
  return `${fence} ${held?.count}`
}
