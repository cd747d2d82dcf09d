/** Runs an operation of several programs alternately. */
import { lstatSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { withFolder } from "../folder.ts"
import { median, type Result, timed } from "../report.ts"
import { verify } from "../rounds.ts"
import { LISTED_MESSAGES, messagesOf } from "./conversation.ts"
import { ours, oursOpenedInMemory } from "./ours.ts"
import type { Conversation, Peer } from "./peer.ts"

const ROUNDS = 8

export async function opened(
  id: string,
  conversation: Conversation,
  own: Peer,
  others: readonly Peer[],
): Promise<Result> {
  const wanted = conversation.kept ?? conversation.messages().length
  return compare(id, own, others, "ms", async (peer, folder) => {
    const open = await peer.open?.(folder, conversation)
    if (open === undefined) return undefined
    return async () => {
      const { time, result } = await timeOf(open)
      await result.close?.()
      // A summary adds one or two messages to the kept ones, and the cut is at the start of a turn.
      const { messages: found } = result
      verify(Math.abs(found - wanted) <= 4, `${peer.name} has ${found} messages in hand, not ${wanted}`)
      return time
    }
  })
}

export function appended(id: string, own: Peer, others: readonly Peer[], count: number): Promise<Result> {
  const all = Array.from({ length: Math.ceil(count / 4) }, (_, index) => messagesOf(index))
    .flat()
    .slice(0, count)
  return compare(id, own, others, "µs/message", async (peer, folder) => {
    const append = await peer.append?.(folder)
    if (append === undefined) return undefined
    return async () => {
      const { time } = await timeOf(async () => {
        for (const message of all) await append(message)
      })
      return (time * 1_000) / count
    }
  })
}

export function listed(id: string, others: readonly Peer[], count: number): Promise<Result> {
  return compare(
    id,
    ours,
    others,
    "ms",
    async (peer, folder) => {
      const list = await peer.list?.(folder, count)
      if (list === undefined) return undefined
      return async () => {
        const { time, result } = await timeOf(list)
        const { rows, firstPrompt, messageCount = LISTED_MESSAGES } = result
        await result.close?.()
        verify(rows === count, `${peer.name} lists ${rows} sessions, not ${count}`)
        verify(
          firstPrompt?.startsWith("Hello ") === true && messageCount === LISTED_MESSAGES,
          `${peer.name} lists a session of ${messageCount} messages that begins with ${firstPrompt}`,
        )
        return time
      }
    },
    (folder) => {
      let found = 0
      for (const name of readdirSync(folder)) {
        if (name.startsWith(".")) continue
        lstatSync(join(folder, name, "session.jsonl"))
        found++
      }
      verify(found === count, `${found} folders`)
    },
  )
}

async function timeOf<T>(act: () => Promise<T>): Promise<{ readonly time: number; readonly result: T }> {
  const start = performance.now()
  const result = await act()
  return { time: performance.now() - start, result }
}

type Prepare = (peer: Peer, folder: string) => Promise<(() => Promise<number>) | undefined>

async function compare(
  id: string,
  own: Peer,
  others: readonly Peer[],
  unit: string,
  prepare: Prepare,
  raw?: (folder: string) => void,
): Promise<Result> {
  return withFolder(async (folder) => {
    const runs = new Map<Peer, () => Promise<number>>()
    for (const [index, peer] of [own, ...others].entries()) {
      const run = await prepare(peer, join(folder, `peer-${index}`))
      if (run !== undefined) runs.set(peer, run)
    }
    const times = new Map<Peer, number[]>()
    const rawTimes: number[] = []
    for (let round = 0; round <= ROUNDS; round++) {
      // The order rotates, so that each program runs after each other's garbage equally often.
      const order = [...runs]
      for (const [peer, run] of [...order.slice(round % order.length), ...order.slice(0, round % order.length)]) {
        const time = await run()
        if (round > 0) times.set(peer, [...(times.get(peer) ?? []), time])
      }
      if (raw === undefined) continue
      const { time } = await timeOf(async () => raw(join(folder, "peer-0")))
      if (round > 0) rawTimes.push(time)
    }
    const medians = (which: readonly Peer[]): Readonly<Record<string, number>> =>
      Object.fromEntries(
        which.flatMap((peer) => {
          const taken = times.get(peer)
          return taken === undefined ? [] : [[peer.name, median(taken)]]
        }),
      )
    return {
      ...timed(id, unit, { ours: times.get(own) ?? [], raw: rawTimes }),
      peers: medians(others.filter((peer) => peer !== oursOpenedInMemory)),
      work: medians([oursOpenedInMemory]),
    }
  })
}
