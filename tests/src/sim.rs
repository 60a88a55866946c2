//! The product without its sockets: typed commands into the real configuration and the real engine,
//! on a clock that the test steps.

use std::net::SocketAddr;
use std::time::Duration;

use sluice_balance::{
    CloseReason, Engine, FlowKey, Instant, Refusal, Selection, ServiceStatus, VserverId,
    VserverStatus,
};
use sluice_command::Fault;
use sluice_config::{Config, Service, Vserver};

/// A daemon minus sockets.
#[derive(Default)]
pub struct Sim {
    config: Config,
    engine: Engine,
    now: Instant,
    clients: u16,
}

impl Sim {
    /// Makes a simulation and types `lines` into it.
    ///
    /// # Panics
    /// When a line is refused.
    pub fn with(lines: &str) -> Self {
        let mut sim = Self::default();
        sim.type_lines(lines);
        sim
    }

    /// Makes a simulation whose random choices follow from `seed`, and types `lines` into it.
    ///
    /// # Panics
    /// When a line is refused.
    pub fn with_seed(seed: u64, lines: &str) -> Self {
        let mut sim = Self {
            engine: Engine::with_seed(seed),
            ..Self::default()
        };
        sim.type_lines(lines);
        sim
    }

    /// Types lines that are right.
    ///
    /// # Panics
    /// When a line is refused.
    pub fn type_lines(&mut self, lines: &str) {
        for line in lines.lines() {
            self.type_line(line)
                .unwrap_or_else(|fault| panic!("{line}: {fault}"));
        }
    }

    /// Types one line.
    ///
    /// # Errors
    /// The fault, when the line is refused.
    pub fn type_line(&mut self, line: &str) -> Result<(), Fault> {
        let parsed = sluice_command::parse(line).map_err(|refused| refused.fault)?;
        let Some(command) = parsed else { return Ok(()) };
        let plan = self.config.plan(&command)?;
        for change in &plan.changes {
            self.engine.apply(change, self.now);
        }
        self.config.commit(plan);
        Ok(())
    }

    /// Returns the time.
    pub fn now(&self) -> Instant {
        self.now
    }

    /// Lets time pass, with every deadline met on its way.
    pub fn step(&mut self, length: Duration) {
        let end = self.now + length;
        while let Some(due) = self.engine.poll_timeout().filter(|due| *due <= end) {
            self.now = self.now.max(due);
            self.engine.handle_timeout(self.now);
        }
        self.now = end;
    }

    /// Lets a new client connect.
    ///
    /// # Errors
    /// [`Refusal`] when no service can be chosen.
    ///
    /// # Panics
    /// When there is no such virtual server.
    pub fn connect(&mut self, vserver: &str) -> Result<Selection, Refusal> {
        self.connect_from([192, 0, 2, 1], vserver)
    }

    /// Lets a client of this address connect from a new port.
    ///
    /// # Errors
    /// [`Refusal`] when no service can be chosen.
    ///
    /// # Panics
    /// When there is no such virtual server.
    pub fn connect_from(&mut self, client: [u8; 4], vserver: &str) -> Result<Selection, Refusal> {
        self.clients = self.clients.wrapping_add(1);
        let client = SocketAddr::from((client, self.clients));
        let id = self.id(vserver);
        let flow = FlowKey {
            src: client,
            dst: SocketAddr::from(([198, 51, 100, 1], 80)),
            token: None,
        };
        self.engine.select(id, &flow, &[], self.now)
    }

    /// Reports that the client has sent its first byte.
    pub fn ask(&mut self, selection: &Selection) {
        self.engine
            .handle_client_data(&selection.reservation, self.now);
    }

    /// Reports that the service has sent its first byte.
    pub fn answer(&mut self, selection: &Selection) {
        self.engine
            .handle_first_answer(&selection.reservation, self.now);
    }

    /// Ends a client's flow.
    pub fn close(&mut self, selection: Selection) {
        self.end(selection, CloseReason::Finished);
    }

    /// Ends a flow for `reason`.
    pub fn end(&mut self, selection: Selection, reason: CloseReason) {
        self.engine
            .handle_close(selection.reservation, reason, self.now);
    }

    /// Returns the name of the service that was chosen.
    ///
    /// # Panics
    /// When the service is gone.
    pub fn name(&self, selection: &Selection) -> String {
        let id = selection.reservation.service();
        let service = self.config.services().find(|service| service.id() == id);
        service
            .map(|service| Service::name(service).to_owned())
            .expect("the service exists")
    }

    /// Shows a virtual server.
    ///
    /// # Panics
    /// When there is no such virtual server.
    pub fn status(&mut self, vserver: &str) -> VserverStatus {
        let id = self.id(vserver);
        let status = self.engine.vserver_status(id, self.now);
        status.expect("the engine has heard of it")
    }

    /// Shows a service.
    ///
    /// # Panics
    /// When there is no such service.
    pub fn service_status(&mut self, name: &str) -> ServiceStatus {
        let id = self.config.service(name).map(Service::id);
        let id = id.expect("the service exists");
        let status = self.engine.service_status(id, self.now);
        status.expect("the engine has heard of it")
    }

    fn id(&self, vserver: &str) -> VserverId {
        let vserver = self.config.vserver(vserver);
        vserver.map(Vserver::id).expect("the virtual server exists")
    }

    /// Returns the running configuration.
    pub fn render(&self) -> Vec<String> {
        self.config.render()
    }
}
