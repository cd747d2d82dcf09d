import type { SessionStorage } from "@sessions/core/storage"
import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"
import * as fc from "fast-check"
import { equal, Mismatch } from "../helpers/assert.ts"
import { needs } from "../case/needs.ts"
import { show, showError } from "../helpers/show.ts"
import type { Subject } from "../subject.ts"
import { within } from "../helpers/timeout.ts"
import type { Command } from "./commands.ts"
import { commandLists, commandText } from "./commands.ts"
import type { Outcome } from "./command-runner.ts"
import { Side } from "./command-runner.ts"

/** A storage gives what the memory reference gives, whatever it is asked for, one thing after the other. */
export function sequential<L>(
  subject: Subject<L>,
  { commands, timeLimit }: { readonly commands: number; readonly timeLimit: number },
): fc.IAsyncProperty<[readonly Command[]]> {
  return fc.asyncProperty(commandLists(commands), (list) => within(timeLimit, () => carryOut(subject, list)))
}

async function carryOut<L>(subject: Subject<L>, list: readonly Command[]): Promise<void> {
  const location = await subject.makeLocation()
  const ours = new Side(await subject.open(location))
  const reference = new Side(createMemoryStorage({ location: createMemoryLocation() }))
  try {
    for (const [index, command] of list.entries()) {
      if (!(await means(command, reference.storage, ours.storage))) continue
      if (command.do === "reopen") {
        await ours.storage[Symbol.asyncDispose]()
        ours.storage = await subject.open(location)
        continue
      }
      const expected = await reference.outcome(command)
      compare(await ours.outcome(command), expected, `command ${index}, ${commandText(command)}`)
    }
  } finally {
    await ours.storage[Symbol.asyncDispose]()
    await subject.removeLocation?.(location)
  }
}

/** Whether the contract says what a command gives here. */
async function means(command: Command, reference: SessionStorage, ours: SessionStorage): Promise<boolean> {
  if (command.do === "reopen") return needs.reopening.met(ours.capabilities, {})
  if (command.do === "replace") return ours.capabilities.replace
  if (command.do !== "docs.put") return true
  // Whether a session must be there before its documents is the storage's choice.
  const [, session] = command.key.split("/")
  return session === undefined || (await reference.head(session)) !== undefined
}

function compare(came: Outcome, expected: Outcome, what: string): void {
  if ("value" in came && "value" in expected) return equal(came.value, expected.value, what)
  if ("code" in came && "code" in expected && came.code === expected.code) return
  throw new Mismatch(what, inWords(expected), "code" in came ? showError(came.error) : inWords(came))
}

function inWords(outcome: Outcome): string {
  return "code" in outcome ? `a rejection with code "${outcome.code}"` : show(outcome.value)
}
