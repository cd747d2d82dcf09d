/** How Anthropic's API says what is wrong with a body. */
import type { Sentences, Source } from "./shapes.ts"

/** `messages[0].content[1].id` is `messages.0.content.1.id` in its sentences. */
const place = (path: string) => path.replaceAll(/\[(\d+)\]/g, ".$1")

export const ANTHROPIC: Sentences = {
  missing: (path) => `${place(path)}: Field required`,
  type: (path, { expected }) => `${place(path)}: Input should be ${expected}`,
  value: (path, { expected, got }) => `${place(path)}: Input should be ${expected} (found '${got}')`,
  unknown: (path) => `${place(path)}: Extra inputs are not permitted`,
  empty: (path, { kind }) =>
    `${place(path)}: ${kind === "array" ? "List should have at least 1 item" : "String should have at least 1 character"}`,
  long: (path, { limit }) => `${place(path)}: String should have at most ${limit} characters`,
  pattern: (path, { expected }) => `${place(path)}: String should match pattern '${expected}'`,
}

/** Of pages and threads that show no date: when they were read. */
export const READ = "2026-11-28"

export const docs = (page: string): Source => ({ url: `https://platform.claude.com/docs/en/${page}`, date: READ })
export const claudeCode = (issue: number, date: string): Source => ({
  url: `https://github.com/anthropics/claude-code/issues/${issue}`,
  date,
})

/** The types of the client, which are made from the API's own description. */
export const ANTHROPIC_TYPES: Source = { url: "https://www.npmjs.com/package/@anthropic-ai/sdk/v/1.14.0", date: READ }
