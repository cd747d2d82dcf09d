export { APPEND, CREATE, type Files, type FileStat, type FolderEntry, nodeFiles, READ, REWRITE } from "./disk/files.ts"
export type { DecodeLines } from "./log/decode.ts"
export { holdInFile, type LineFile } from "./hold-lines.ts"
export { createFileStorage, type FileStorageOptions } from "./storage.ts"
