/** Makes a format of a JSON document with a list of records. */
import { defineFormat, type Format } from "./format.ts"
import type { ListFormat } from "./list-format.ts"
import { readList } from "./list-read.ts"
import { writeList } from "./list-write.ts"
import { isObject } from "./values.ts"
import { wellFormedWriter } from "./well-formed.ts"

export function defineListFormat(list: ListFormat): Format {
  const { format, title, versions, field } = list
  return defineFormat({
    format,
    title,
    ...(versions === undefined ? {} : { versions }),
    rejects(start) {
      const value = start.document?.value
      const document = isObject(value) ? value : undefined
      const records: unknown = document === undefined ? value : document[field]
      if (!Array.isArray(records)) return `is no JSON array, and no object with an array in \`${field}\``
      const known = (records as readonly unknown[]).filter(isObject)
      return list.rejects(known, document, start)
    },
    read: (source, o) => readList(list, source, o),
    write: wellFormedWriter(format, (session, o) => writeList(list, session, o)),
  })
}
