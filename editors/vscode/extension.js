// Starts `quotient lsp` and lets the editor talk to it. Everything else is in the server.
const vscode = require('vscode');
const { LanguageClient } = require('vscode-languageclient/node');

let client;

exports.activate = () => {
  const settings = vscode.workspace.getConfiguration('quotient');
  const server = { command: settings.get('path'), args: ['lsp', '--max-time', settings.get('maxTime')] };
  const documentSelector = ['promela', 'bir', 'dve'].map((language) => ({ language, scheme: 'file' }));
  client = new LanguageClient('quotient', 'Quotient', server, { documentSelector });
  return client.start();
};

exports.deactivate = () => client && client.stop();
