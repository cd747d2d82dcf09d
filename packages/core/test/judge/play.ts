/** Plays a history: the same for the library and for the oracle. */
import type { AssistantMessage, ToolResultMessage, UserMessage } from "@sessions/core"
import { createDice } from "../dice.ts"
import { answer, question, remark, result } from "./author.ts"
import type { Op } from "./history.ts"
import { textOf } from "./texts.ts"
import { between } from "./tokenizers.ts"
import type { World } from "./world.ts"

export interface Player {
  /** The number of the next message. */
  next(): number
  say(message: UserMessage | ToolResultMessage, n: number): Promise<void>
  /** Asks the model. False: the loop gave up. */
  ask(make: (n: number) => AssistantMessage): Promise<AssistantMessage | false>
  switchTo(model: number): Promise<void>
  scaleOverhead(by: number): void
  /** User messages that the context has word for word, with their sizes. */
  deletable(): readonly { readonly n: number; readonly size: number }[]
  remove(n: number): Promise<void>
  /** Between two operations. */
  rest(): Promise<void>
}

export async function play(world: World, ops: readonly Op[], player: Player): Promise<void> {
  for (const op of ops) {
    await playOp(world, op, player)
    await player.rest()
  }
}

async function playOp(world: World, op: Op, player: Player): Promise<void> {
  const dice = createDice(op.seed)
  switch (op.op) {
    case "switch":
      return player.switchTo(op.model)
    case "overhead":
      return player.scaleOverhead(op.by)
    case "delete": {
      const all = player.deletable()
      if (all.length === 0) return
      // Half of the deletions take the message that is in the way.
      const largest = all.reduce((a, b) => (b.size > a.size ? b : a))
      return player.remove(dice.chance(0.5) ? largest.n : dice.pick(all).n)
    }
    case "group":
      for (let i = 0; i < op.messages; i++) {
        const n = player.next()
        await player.say(remark(textOf(dice, op.kind, Math.min(op.size, 40)), n), n)
      }
      return
    default:
  }
  const n = player.next()
  await player.say(question(dice, op, n), n)
  const usual = { kind: op.kind, size: Math.ceil(between(dice, 0.002, 0.03) * (world.models[0]?.window ?? 0)) }
  for (let step = 0; op.op === "tools" && step < op.steps; step++) {
    const asked = await player.ask((n) => answer(dice, { ...usual, size: 20, calls: op.parallel, server: false }, n))
    if (asked === false) return
    for (const block of asked.content) {
      if (block.type !== "toolCall") continue
      const n = player.next()
      await player.say(result(dice, op, n, block.id), n)
    }
  }
  const isServer = op.op === "server"
  await player.ask((n) => answer(dice, { ...usual, ...(isServer && { size: op.size }), calls: 0, server: isServer }, n))
}
