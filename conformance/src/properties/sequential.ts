/** The sequential property: random commands have the same results on the subject's storage as on the memory storage. */
import type { SessionStorage } from "@sessions/core/storage"
import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"
import * as fc from "fast-check"
import { equal, Mismatch } from "../helpers/assert.ts"
import { needs } from "../case/needs.ts"
import { show, showError } from "../helpers/show.ts"
import type { Subject } from "../subject.ts"
import { withTimeout } from "../helpers/timeout.ts"
import { type Command, commandLists, commandText } from "./commands.ts"
import { CommandRunner, type Outcome } from "./command-runner.ts"

export function sequential<L>(
  subject: Subject<L>,
  { commands, timeLimit }: { readonly commands: number; readonly timeLimit: number },
): fc.IAsyncProperty<[readonly Command[]]> {
  return fc.asyncProperty(commandLists(commands), (list) => withTimeout(timeLimit, () => runCommands(subject, list)))
}

async function runCommands<L>(subject: Subject<L>, list: readonly Command[]): Promise<void> {
  const location = await subject.makeLocation()
  const tested = new CommandRunner(await subject.open(location))
  const reference = new CommandRunner(createMemoryStorage({ location: createMemoryLocation() }))
  try {
    for (const [index, command] of list.entries()) {
      if (!(await applies(command, reference.storage, tested.storage))) continue
      if (command.do === "reopen") {
        await tested.storage[Symbol.asyncDispose]()
        tested.storage = await subject.open(location)
        continue
      }
      const expected = await reference.outcome(command)
      compare(await tested.outcome(command), expected, `command ${index}, ${commandText(command)}`)
    }
  } finally {
    await tested.storage[Symbol.asyncDispose]()
    await subject.removeLocation?.(location)
  }
}

/** Whether the contract defines the result of the command for both storages. */
async function applies(command: Command, reference: SessionStorage, tested: SessionStorage): Promise<boolean> {
  if (command.do === "reopen") return needs.reopening.met(tested.capabilities, {})
  if (command.do === "replace") return tested.capabilities.replace
  if (command.do !== "docs.put") return true
  // A storage may require that a session exists before its documents.
  const [, session] = command.key.split("/")
  return session === undefined || (await reference.head(session)) !== undefined
}

function compare(actual: Outcome, expected: Outcome, what: string): void {
  if ("value" in actual && "value" in expected) return equal(actual.value, expected.value, what)
  if ("code" in actual && "code" in expected && actual.code === expected.code) return
  throw new Mismatch(what, describe(expected), "code" in actual ? showError(actual.error) : describe(actual))
}

function describe(outcome: Outcome): string {
  return "code" in outcome ? `a rejection with code "${outcome.code}"` : show(outcome.value)
}
