/** Where everything lies below the root. What is no session has a name that starts with a dot, which no id does. */
import { join, sep } from "node:path"
import type { Seq } from "@sessions/core/storage"
import { toFileName } from "./file-names.ts"

export interface Layout {
  readonly root: string
  readonly blobs: string
  readonly docs: string
  /** Folders under construction, and logs about to take the place of another. */
  readonly fresh: string
  /** What was deleted and may be removed at leisure. */
  readonly trash: string
  readonly locks: string
  /** One empty file for each session whose log may have more than one part, so that a listing knows whose last part to look for. */
  readonly rolled: string
}

/** The places of one session. */
export interface SessionPaths {
  readonly session: string
  readonly name: string
  readonly folder: string
  /** A whole log that replaces the one in `folder`, or takes its place where that is gone. */
  readonly swap: string
  readonly lock: string
  readonly docsLock: string
  readonly rolled: string
}

export interface PartName {
  /** 1 for `session.jsonl`. */
  readonly number: number
  readonly from: Seq
  readonly name: string
}

export const FOLDER_MODE = 0o700
export const FILE_MODE = 0o600

export const IDENTITY_FILE = "log.id"
export const METADATA_FILE = "metadata.json"
export const DOCS_FOLDER = "docs"
export const FIRST_PART = "session.jsonl"

export function toLayout(root: string): Layout {
  return {
    root,
    blobs: join(root, ".blobs"),
    docs: join(root, ".docs"),
    fresh: join(root, ".new"),
    trash: join(root, ".trash"),
    locks: join(root, ".locks"),
    rolled: join(root, ".rolled"),
  }
}

/** A name in a folder. Whole paths are normalized once: to do so for each file takes as long as looking at it. */
export function below(folder: string, name: string): string {
  return folder.endsWith(sep) ? folder + name : folder + sep + name
}

export function toSessionPaths(layout: Layout, session: string): SessionPaths {
  const name = toFileName(session)
  return {
    session,
    name,
    folder: below(layout.root, name),
    swap: below(layout.fresh, `${name}.swap`),
    lock: below(layout.locks, `${name}.lock`),
    // No id and no encoded one ends like that, while a session may well be called `x.docs`.
    docsLock: below(layout.locks, `${name}@docs.lock`),
    rolled: below(layout.rolled, name),
  }
}

export function toPartName(number: number, from: Seq): PartName {
  return { number, from, name: number === 1 ? FIRST_PART : `session_part${number}.${from}.jsonl` }
}

/** Undefined for a file that is no part of a log. */
export function parsePartName(name: string): PartName | undefined {
  if (name === FIRST_PART) return { number: 1, from: 0, name }
  const match = PART.exec(name)
  if (match === null) return undefined
  const part = toPartName(Number(match[1]), Number(match[2]))
  return part.number > 1 && part.name === name ? part : undefined
}

/** The file with the offsets of a part. */
export function toIndexName(part: string): string {
  return part.replace(/\.jsonl$/, ".marks")
}

const PART = /^session_part(\d{1,9})\.(\d{1,15})\.jsonl$/
