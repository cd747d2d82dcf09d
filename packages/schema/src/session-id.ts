/** 1-128 characters, a letter or digit first and last, no "..". */
export const SESSION_ID: RegExp = /^(?!.*\.\.)[A-Za-z0-9](?:[A-Za-z0-9._-]{0,126}[A-Za-z0-9])?$/
