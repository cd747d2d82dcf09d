/** Compares ours with other programs, on the same conversation and in one run: files with files, memory with memory. */
import { join } from "node:path"
import { withFolder } from "../folder.ts"
import { median, type Result, type Scenario, timed } from "../report.ts"
import { verify } from "../rounds.ts"
import { claude } from "./claude.ts"
import { conversation, LISTED_MESSAGES, messagesOf } from "./conversation.ts"
import { installPeers } from "./install.ts"
import { openai } from "./openai.ts"
import { ours, oursInMemory, oursOpenedInMemory } from "./ours.ts"
import type { Conversation, Peer } from "./peer.ts"
import { pi } from "./pi.ts"
import { plain } from "./plain.ts"
import { sqlite } from "./sqlite.ts"

const ROUNDS = 8

export function peerScenarios(quick: boolean): readonly Scenario[] {
  const missing = installPeers()
  if (missing !== undefined) process.stderr.write(`skipped: ${missing}\n`)
  const installed = missing === undefined ? [pi, claude] : []
  const files = [...installed, plain, sqlite]
  const memory = missing === undefined ? [openai] : []
  const size = quick ? 0.1 : 1
  const open = (id: string, megabytes: number, own: Peer, others: readonly Peer[], kept?: number): Scenario => ({
    id,
    run: () => opened(id, conversation(megabytes * 1e6 * size, kept), own, others),
  })
  return [
    open("peers.open.50mb", 50, ours, files),
    open("peers.open.116mb", 116, ours, files),
    open("peers.open.50mb.compacted", 50, ours, [...installed, sqlite], 60),
    open("peers.open.116mb.compacted", 116, ours, [...installed, sqlite], 60),
    ...(memory.length > 0 ? [open("peers.open.memory", 10, oursInMemory, [...memory, oursOpenedInMemory])] : []),
    { id: "peers.append", run: () => appended("peers.append", ours, files, quick ? 500 : 3_000) },
    ...(memory.length > 0
      ? [{ id: "peers.append.memory", run: () => appended("peers.append.memory", oursInMemory, memory, 3_000) }]
      : []),
    { id: "peers.list.1000", run: () => listed("peers.list.1000", files, quick ? 100 : 1_000) },
  ]
}

async function opened(id: string, conversation: Conversation, own: Peer, others: readonly Peer[]): Promise<Result> {
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

function appended(id: string, own: Peer, others: readonly Peer[], count: number): Promise<Result> {
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

function listed(id: string, others: readonly Peer[], count: number): Promise<Result> {
  return compare(id, ours, others, "ms", async (peer, folder) => {
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
  })
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
): Promise<Result> {
  return withFolder(async (folder) => {
    const runs = new Map<Peer, () => Promise<number>>()
    for (const [index, peer] of [own, ...others].entries()) {
      const run = await prepare(peer, join(folder, `peer-${index}`))
      if (run !== undefined) runs.set(peer, run)
    }
    const times = new Map<Peer, number[]>()
    for (let round = 0; round <= ROUNDS; round++) {
      // The order rotates, so that each program runs after each other's garbage equally often.
      const order = [...runs]
      for (const [peer, run] of [...order.slice(round % order.length), ...order.slice(0, round % order.length)]) {
        const time = await run()
        if (round > 0) times.set(peer, [...(times.get(peer) ?? []), time])
      }
    }
    const medians = (which: readonly Peer[]): Readonly<Record<string, number>> =>
      Object.fromEntries(
        which.flatMap((peer) => {
          const taken = times.get(peer)
          return taken === undefined ? [] : [[peer.name, median(taken)]]
        }),
      )
    return {
      ...timed(id, unit, { ours: times.get(own) ?? [], raw: [] }),
      peers: medians(others.filter((peer) => peer !== oursOpenedInMemory)),
      work: medians([oursOpenedInMemory]),
    }
  })
}
