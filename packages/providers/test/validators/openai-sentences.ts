/** How OpenAI's APIs say what is wrong with a body. */
import type { Sentences, Source } from "./shapes.ts"

export const OPENAI: Sentences = {
  missing: (path) => `Missing required parameter: '${path}'.`,
  type: (path, { expected, got }) => `Invalid type for '${path}': expected ${expected}, but got ${got} instead.`,
  value: (path, { expected, got }) => `Invalid value: '${got}'. Supported values are: ${expected}. (${path})`,
  unknown: (path) => `Unknown parameter: '${path}'.`,
  empty: (path, { kind }) =>
    `Invalid '${path}': empty ${kind}. Expected ${kind === "array" ? "an array" : "a string"} with minimum length 1, but got an empty ${kind} instead.`,
  long: (path, { kind, limit, got }) =>
    `Invalid '${path}': ${kind} too long. Expected ${kind === "array" ? "an array" : "a string"} with maximum length ${limit}, but got ${kind === "array" ? "an array" : "a string"} with length ${got} instead.`,
  pattern: (path, { expected }) =>
    `Invalid '${path}': string does not match pattern. Expected a string that matches the pattern '${expected}'.`,
}

/** Of pages and threads that show no date: when they were read. */
export const READ = "2026-11-28"

export const github = (path: string, date: string): Source => ({ url: `https://github.com/${path}`, date })

/** The types of the client, which are made from the API's own description. */
export const OPENAI_TYPES: Source = { url: "https://www.npmjs.com/package/openai/v/7.59.0", date: "2026-11-17" }
