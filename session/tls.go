package session

const tokenVariable = "SYMMREPL_TOKEN"
