/** What the path and the files beside a context say of its session. */
import type { ReadSource } from "../base/format.ts"
import { readJsonLines } from "../base/json-lines.ts"
import { type Fields, fieldsOf, isObject, stringOf, timestampOf } from "../base/values.ts"
import { KIMI_SESSION, STATE, WIRE } from "./place.ts"

export interface Facts {
  readonly id?: string | undefined
  /** Of a subagent: the session that started it. */
  readonly parent?: string | undefined
  readonly cwd?: string | undefined
  readonly title?: string | undefined
  /** What the user said, in order. */
  readonly prompts: readonly Prompt[]
}

export interface Prompt {
  readonly text: string
  readonly timestamp: string
}

export async function factsBeside(beside: ReadSource["beside"]): Promise<Facts> {
  const { id, cwd, parent } = await documentOf(beside(KIMI_SESSION))
  const { custom_title: title } = await documentOf(beside(STATE))
  const prompts = await promptsOf(beside(WIRE))
  return { id: stringOf(id), parent: stringOf(parent), cwd: stringOf(cwd), title: stringOf(title), prompts }
}

type File = ReturnType<ReadSource["beside"]>

async function documentOf(file: File): Promise<Fields> {
  let text = ""
  if (file !== undefined) for await (const piece of textOf(file)) text += piece
  try {
    return fieldsOf(JSON.parse(text))
  } catch {
    return {}
  }
}

async function promptsOf(file: File): Promise<readonly Prompt[]> {
  const prompts: Prompt[] = []
  if (file === undefined) return prompts
  for await (const lines of readJsonLines(textOf(file), () => undefined))
    for (const { value } of lines) {
      const { type, payload } = fieldsOf(value?.["message"])
      const timestamp = timestampOf(value?.["timestamp"])
      if (timestamp !== undefined && (type === "TurnBegin" || type === "SteerInput"))
        prompts.push({ text: promptText(fieldsOf(payload)["user_input"]), timestamp })
    }
  return prompts
}

/** The texts of a prompt: a text, or a list of parts. */
export function promptText(input: unknown): string {
  if (typeof input === "string") return input
  const parts = Array.isArray(input) ? (input as readonly unknown[]) : []
  const texts = parts.map((part) => (isObject(part) && part["type"] === "text" ? part["text"] : undefined))
  return texts.filter((text) => typeof text === "string").join("\n")
}

async function* textOf(file: NonNullable<File>): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder()
  for await (const piece of file) yield typeof piece === "string" ? piece : decoder.decode(piece, { stream: true })
}
