/** The messages of a request in the order that its receiver takes: where it begins, where it ends, and which neighbours are one message. */
import type { ContextMessage } from "@sessions/core"
import type { Lost } from "./lost.ts"
import type { Rules } from "./rules.ts"

/** What a user message says that a request needs and the conversation does not have. */
export const BEGINNING = "(The conversation begins here.)"
export const CONTINUE = "Continue."

/** What the assistant says where a request needs an answer and the conversation has none. */
const ANSWER = "(No answer was given.)"

/** How a receiver writes messages. */
export interface Writer<T> {
  /** The role of a message, in the API's words. */
  readonly roleOf: (record: T) => string
  /** A message of the user. */
  readonly user: (text: string) => T
  /** An answer, for receivers that want one behind results. */
  readonly answer?: (text: string) => T
  /** Adds what `next` says to the end of `last`; both have one role. */
  readonly join: (last: T, next: T) => void
}

/** Takes the messages of a request one after the other. */
export class Turns<T> {
  readonly #rules: Rules
  readonly #lost: Lost
  readonly #writer: Writer<T>
  readonly #list: T[] = []
  #hasBegun = false
  /** The last message has results. */
  #hasResults = false
  /** Where the last message comes from, if it is an answer. System messages do not count. */
  #answer: { readonly item: ContextMessage; readonly isOpen: boolean } | undefined

  constructor(rules: Rules, lost: Lost, writer: Writer<T>) {
    this.#rules = rules
    this.#lost = lost
    this.#writer = writer
  }

  /** `isOpen`: an answer that goes on in the next one, such as one that waits for a tool of the provider. Gives the message that has it. */
  add(record: T, item: ContextMessage, isOpen = false): T {
    const { role: of } = item.message
    const goesOn = of === "assistant" && this.#answer?.isOpen === true
    if (of === "assistant") {
      if (!this.#hasBegun) this.#begin(item.entryId)
      this.leaveOut(item)
      this.#answer = { item, isOpen }
    } else if (of !== "system") this.#answer = undefined
    if (this.#hasResults && of !== "assistant" && of !== "toolResult") this.#answerResults(item.entryId)
    this.#hasResults = of === "toolResult"
    this.#hasBegun ||= of !== "system"
    const last = this.#list.at(-1)
    const role = this.#writer.roleOf(record)
    const isJoined = goesOn || this.#rules.order.joined.includes(role)
    if (last === undefined || this.#writer.roleOf(last) !== role || !isJoined) {
      this.#list.push(record)
      return record
    }
    this.#writer.join(last, record)
    return last
  }

  /** A message of which nothing is sent. The request that an answer came to has ended with the answer before it, as `end` ends it. */
  leaveOut({ message }: ContextMessage): void {
    if (message.role !== "assistant" || this.#answer === undefined || !isWhole(this.#answer)) return
    this.#goOn(this.#answer.item)
    this.#answer = undefined
  }

  /** The messages of the request, one at least: no receiver takes none. */
  end(): readonly T[] {
    if (!this.#hasBegun) this.#begin("")
    if (this.#answer !== undefined && !this.#answer.isOpen) this.#goOn(this.#answer.item)
    this.#answer = undefined
    return this.#list
  }

  #begin(entryId: string): void {
    const { order, receiver } = this.#rules
    if (order.begins !== "user") return
    this.#lost.add("repaired", entryId, 1, `${receiver} takes no answer first, so "${BEGINNING}" is sent as the user's`)
    this.#list.push(this.#writer.user(BEGINNING))
  }

  #answerResults(entryId: string): void {
    const { order, receiver } = this.#rules
    const { answer } = this.#writer
    if (order.answersResults !== true || answer === undefined) return
    this.#lost.add("repaired", entryId, 1, `${receiver} wants an answer behind results; "${ANSWER}" was added`)
    this.#list.push(answer(ANSWER))
  }

  #goOn({ entryId }: ContextMessage): void {
    const { order, receiver } = this.#rules
    if (order.ends !== "user") return
    const rule = `${receiver} goes on from an answer only if the user asks, so "${CONTINUE}" is sent; append a message of your own to say more`
    this.#lost.add("repaired", entryId, 1, rule)
    this.#list.push(this.#writer.user(CONTINUE))
  }
}

/** An answer that has ended, so that another request asked for the next one. Other programs have one answer in several entries without a reason. */
function isWhole({ item, isOpen }: { readonly item: ContextMessage; readonly isOpen: boolean }): boolean {
  return !isOpen && (item.kind === "compaction" || typeof item.message["stopReason"] === "string")
}
