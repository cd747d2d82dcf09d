/** Histories that a correct storage can have, for the tests of the checker: clients call a log in memory, and calls overlap at random. */
import type { Dice } from "../../../../packages/core/test/dice.ts"
import type { Append, History, LogOperation } from "./history.ts"

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] }
type Running = Mutable<LogOperation> & { effect?: () => void; lost?: boolean }

export interface SimulateOptions {
  readonly dice: Dice
  readonly clients: number
  readonly operations: number
  readonly atomicBatch: "all" | "prefix"
  readonly mostLines: number
}

const IDENTITY = "log"

export function simulate({ dice, clients, operations, atomicBatch, mostLines }: SimulateOptions): History {
  const log: string[] = []
  const known = new Array<number>(clients).fill(0)
  const running = new Map<number, Running>()
  /** Writes with an unknown outcome that may still take effect. */
  const late = new Set<() => void>()
  const all: Running[] = []
  let time = 0
  let begun = 0
  while (begun < operations || running.size > 0) {
    time++
    const client = dice.below(clients)
    const current = running.get(client)
    if (late.size > 0 && dice.chance(0.1)) {
      const effect = dice.pick([...late])
      late.delete(effect)
      effect()
    } else if (current === undefined && begun < operations) {
      const operation = begin(client, begun++)
      all.push(operation)
      running.set(client, operation)
    } else if (current?.lost === true && current.effect !== undefined) {
      late.add(current.effect)
      end(client, current)
    } else if (current?.effect !== undefined) {
      current.effect()
      delete current.effect
    } else if (current !== undefined) end(client, current)
  }
  const finished = all.map(({ effect: _effect, lost: _lost, ...operation }) => operation as LogOperation)
  const lines = log.map((id) => ({ id, bytes: id.length }))
  return { atomicBatch, log: { identity: IDENTITY, lines }, documents: {}, operations: finished }

  function begin(client: number, n: number): Running {
    const timed = { by: `c${client}`, start: time, end: Number.POSITIVE_INFINITY }
    const dicing = dice.next()
    if (dicing < 0.5) {
      const seen = known[client] as number
      // Sometimes a head that is too old, or one that is yet to come.
      const expect = dice.chance(0.1) ? 0 : dice.chance(0.1) ? seen + 1 + dice.below(2) : seen
      const lines = Array.from({ length: 1 + dice.below(mostLines) }, (_, index) => `${n}.${index}`)
      const append: Running = { kind: "append", ...timed, expect, lines, lost: dice.chance(0.15) }
      append.effect = () => write(append, client)
      return append
    }
    if (dicing < 0.75) {
      const look: Running = { kind: "head", ...timed }
      look.effect = () => {
        look.answer = { next: log.length, log: IDENTITY, bytes: log.join("").length }
        known[client] = log.length
      }
      return look
    }
    const from = Math.max(0, (known[client] as number) - dice.below(3))
    const read: Running = { kind: "read", ...timed }
    read.effect = () => {
      read.answer = { from, lines: log.slice(from) }
      known[client] = log.length
    }
    return read
  }

  function write(append: Mutable<Append> & Running, client: number): void {
    const { expect, lines, lost } = append
    const fits = expect === log.length
    const count = lost === true && atomicBatch === "prefix" && expect > 0 ? dice.below(lines.length + 1) : lines.length
    if (fits) log.push(...lines.slice(0, count))
    if (lost === true) return
    append.answer = fits ? { next: log.length, log: IDENTITY } : { code: "conflict" }
    if (fits) known[client] = log.length
  }

  /** A lost write ends with its process, or is `indeterminate`. */
  function end(client: number, operation: Running): void {
    running.delete(client)
    if (operation.lost === true && dice.chance(0.5)) return
    if (operation.lost === true && operation.kind === "append") operation.answer = { code: "indeterminate" }
    operation.end = time
  }
}
