/** What a user's message says in the lists of Claude Code: its texts have tags around commands, and around what the agent adds. */
import type { UserMessage } from "@sessions/core"
import { stringOf } from "../base/values.ts"

export interface Prompt {
  /** What a person sees of it. */
  readonly text: string
  /** A command, which is a title only as long as nothing else was said. */
  readonly isCommand: boolean
}

/** Undefined for a message that the agent made. */
export function promptOf({ content }: UserMessage): Prompt | undefined {
  for (const block of content) {
    const text = block.type === "text" ? (stringOf(block.text)?.trim() ?? "") : ""
    if (text === "" || MADE.test(text)) continue
    const command = /<command-name>([^<]*)<\/command-name>/.exec(text)?.[1]
    if (command !== undefined) return { text: command.trim(), isCommand: true }
    const bash = /^<bash-input>([\s\S]*?)<\/bash-input>/.exec(text)?.[1]
    return { text: bash === undefined ? text : `! ${bash.trim()}`, isCommand: false }
  }
  return undefined
}

/** Whether the message has texts, and the agent made all of them. */
export function isMade({ content }: UserMessage): boolean {
  return (
    content.length > 0 &&
    content.every((block) => block.type === "text" && MADE.test(stringOf(block.text)?.trim() ?? ""))
  )
}

const MADE =
  /^(?:<(?:local-command-[a-z]+|bash-stdout|bash-stderr|system-reminder|ide_[a-z_]+|task-notification|session-start-hook|user-prompt-submit-hook)>|\[Request interrupted by user)/
