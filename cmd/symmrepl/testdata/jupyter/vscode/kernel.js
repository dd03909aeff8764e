'use strict';

// A kernel as the Jupyter extension of VS Code starts it and speaks to it: by the KernelConnection of
// @jupyterlab/services over sockets of ZeroMQ, without a server of Jupyter. NODE_PATH names the
// packages.

const {spawn} = require('node:child_process');
const {randomUUID} = require('node:crypto');
const fs = require('node:fs');
const net = require('node:net');
const os = require('node:os');
const path = require('node:path');

const {KernelMessage, ServerConnection} = require('@jupyterlab/services');
const {KernelConnection} = require('@jupyterlab/services/lib/kernel/default');
const wire = require('@nteract/messaging/lib/wire-protocol');
const {Dealer, Subscriber} = require('zeromq');

// freePorts returns n ports that nothing listens on.
async function freePorts(n) {
  const servers = await Promise.all(
    Array.from({length: n}, () => new Promise(resolve => {
      const server = net.createServer().listen(0, '127.0.0.1', () => resolve(server));
    })));
  const ports = servers.map(server => server.address().port);
  await Promise.all(servers.map(server => new Promise(resolve => server.close(resolve))));
  return ports;
}

// touch opens a port and closes it at once, until that succeeds. The extension does so to see that
// the kernel listens.
async function touch(port) {
  for (;;) {
    const open = await new Promise(resolve => {
      const socket = net.connect(port, '127.0.0.1', () => { socket.destroy(); resolve(true); });
      socket.on('error', () => resolve(false));
    });
    if (open) return;
    await new Promise(resolve => setTimeout(resolve, 50));
  }
}

// sockets returns a class of WebSockets that carries messages of a connection by ZeroMQ. The three
// sockets that send have one identity.
function sockets(connection) {
  return class {
    protocol = '';
    readyState = 1;
    constructor() {
      const routingId = randomUUID();
      this.channels = {iopub: new Subscriber({receiveHighWaterMark: 0})};
      for (const name of ['shell', 'control', 'stdin']) this.channels[name] = new Dealer({routingId, sendHighWaterMark: 0, receiveHighWaterMark: 0});
      for (const [name, socket] of Object.entries(this.channels)) {
        socket.connect(`tcp://127.0.0.1:${connection[name + '_port']}`);
        this.read(name, socket);
      }
      this.channels.iopub.subscribe();
      setImmediate(() => this.onopen({target: this}));
    }
    async read(channel, socket) {
      for await (const frames of socket) {
        if (this.closed) return;
        this.onmessage({data: {...wire.decode(frames, connection.key, connection.signature_scheme), channel}, type: 'message', target: this});
      }
    }
    // The messages of a channel leave in their order: a socket takes one at a time.
    send(message) {
      this.sent = (this.sent ?? Promise.resolve()).then(
        () => this.closed || this.channels[message.channel].send(wire.encode(message, connection.key, connection.signature_scheme)));
    }
    close() {
      this.closed = true;
      Object.values(this.channels).forEach(socket => socket.close());
    }
  };
}

// start starts the kernel of a kernel specification, and returns it after it has answered.
async function start(spec) {
  const [shell_port, iopub_port, stdin_port, control_port, hb_port] = await freePorts(5);
  const connection = {
    version: 5, transport: 'tcp', ip: '127.0.0.1', shell_port, iopub_port, stdin_port, control_port, hb_port,
    signature_scheme: 'hmac-sha256', key: randomUUID(), kernel_name: 'symmrepl',
  };
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'symmrepl-vscode-'));
  const file = path.join(folder, 'connection.json');
  fs.writeFileSync(file, JSON.stringify(connection), {mode: 0o600});
  const [program, ...args] = spec.argv.map(arg => arg.replace('{connection_file}', file));
  const child = spawn(program, args, {env: {...process.env, ...spec.env}, stdio: ['ignore', 'pipe', 'pipe']});
  const kernel = new Kernel(child, folder);
  await Promise.all([touch(shell_port), touch(iopub_port)]);
  kernel.connection = new KernelConnection({
    serverSettings: ServerConnection.makeSettings({
      WebSocket: sockets(connection), wsUrl: 'RAW', serializer: {serialize: message => message, deserialize: data => data},
    }),
    clientId: randomUUID(), username: randomUUID(), handleComms: true, model: {name: 'symmrepl', id: randomUUID()},
  });
  kernel.connection.iopubMessage.connect((_, message) => {
    kernel.published.push(message);
    setImmediate(() => kernel.waiting.splice(0).forEach(resume => resume()));
  });
  kernel.connection.registerCommTarget('jupyter.widget', () => {});
  // Messages that the kernel publishes before it knows the subscription are lost, so the extension asks again.
  let answered = false;
  while (!answered || kernel.published.length === 0) {
    kernel.connection.requestKernelInfo().then(() => { answered = true; }, () => {});
    await Promise.race([kernel.until(() => answered && kernel.published.length > 0), new Promise(resolve => setTimeout(resolve, 500))]);
  }
  return kernel;
}

class Kernel {
  published = []; // all messages from iopub
  waiting = []; // for the next of them
  printed = ''; // by the kernel's process, which the extension shows as the kernel's log

  constructor(child, folder) {
    this.child = child;
    child.stdout.on('data', data => { this.printed += data; });
    child.stderr.on('data', data => { this.printed += data; });
    this.exited = new Promise(resolve => child.on('exit', (code, signal) => resolve(signal ?? code))).then(status => {
      fs.rmSync(folder, {recursive: true});
      return status;
    });
  }

  // request sends a message on a channel and returns its reply.
  request(channel, msgType, content = {}) {
    const message = KernelMessage.createMessage({msgType, channel, content, username: this.connection.username, session: this.connection.clientId});
    return (channel === 'control' ? this.connection.sendControlMessage(message, true, true) : this.connection.sendShellMessage(message, true, true)).done;
  }

  // execute runs a cell. It returns a future that has its outputs, as the extension keeps them, and answers what the cell asks.
  execute(code, {answer, ...options} = {}) {
    const future = this.connection.requestExecute(
      {code, silent: false, stop_on_error: false, allow_stdin: true, store_history: true, ...options}, false);
    future.outputs = [];
    future.onIOPub = ({header, content}) => {
      const last = future.outputs.at(-1);
      if (header.msg_type === 'stream' && last?.name === content.name) last.text += content.text;
      else if (['stream', 'display_data', 'execute_result', 'error'].includes(header.msg_type)) future.outputs.push({type: header.msg_type, ...content});
      else if (header.msg_type === 'update_display_data') future.outputs.find(o => o.transient?.display_id === content.transient.display_id).data = content.data;
      future.onOutput?.(future.outputs.at(-1));
    };
    future.onStdin = message => this.connection.sendInputReply({status: 'ok', value: answer(message.content)}, message.header);
    return future;
  }

  // begun returns when a cell has shown its first output.
  begun(future) {
    return new Promise(resolve => { future.onOutput = output => output && resolve(output); });
  }

  // until returns when a condition holds, which it checks after each message.
  async until(condition) {
    while (!condition()) await new Promise(resolve => this.waiting.push(resolve));
  }

  // kill ends the process as the extension does, and returns its exit status, or the signal that ended it.
  async kill(signal) {
    this.connection.dispose();
    this.child.kill(signal);
    return this.exited;
  }
}

module.exports = {start};
