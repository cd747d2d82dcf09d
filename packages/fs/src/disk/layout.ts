/** The paths of everything below the root. Names that belong to no session start with a dot, which no id does. */
import { join, sep } from "node:path"
import type { Seq } from "@sessions/core/storage"
import { toFileName } from "./file-names.ts"

export interface Layout {
  readonly root: string
  readonly blobs: string
  readonly docs: string
  /** Folders under construction, and whole logs that are about to replace another one. */
  readonly fresh: string
  /** Deleted folders that are still to be removed. */
  readonly trash: string
  readonly locks: string
  /** One empty file per session whose log may have several parts, so that a listing knows when to look for the last part. */
  readonly rolled: string
}

/** The paths of one session. */
export interface SessionPaths {
  readonly session: string
  readonly name: string
  readonly folder: string
  /** A whole log that replaces the one in `folder`, or that a crash kept from doing so. */
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

/**
 * Joins a name to a normalized folder path. `path.join` would normalize the whole path again, which takes as long as an `lstat`.
 */
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
    docsLock: docsLockOf(layout, name),
    rolled: below(layout.rolled, name),
  }
}

/** `name` is the file name of the session. No id and no encoded one ends with `@docs`, while a session may be called `x.docs`. */
export function docsLockOf(layout: Layout, name: string): string {
  return below(layout.locks, `${name}@docs.lock`)
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

/** The file with the line offsets of a part. */
export function toIndexName(part: string): string {
  return part.replace(/\.jsonl$/, ".marks")
}

const PART = /^session_part(\d{1,9})\.(\d{1,15})\.jsonl$/
